// file_views.h - how each process sees the files that it has opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/matching/events.h"
#include "hdtrace/matching/file_view.h"

namespace hdtrace {

class FileViews {
  public:
    /// @p objects must outlive this.
    explicit FileViews(const ObjectTable& objects) : m_types(objects) {}

    /// Takes note of a call on the file that has returned, if it opens the file or sets a view.
    void follow(const Call& call, const ProjectFile& file);

    /// Null if the type of the view is not described, or an offset may be several places in it. Valid until
    /// follow() is called.
    const FileView* find(std::int64_t rank, const ProjectFile& file) const;

  private:
    TypeMaps m_types;
    /// By rank: what was set; nothing if its type is not described.
    std::map<std::pair<std::int64_t, const ProjectFile*>, std::optional<FileView>> m_views;
};

} // namespace hdtrace
