// file_views.h - how each process sees the files that it has opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/matching/events.h"
#include "hdtrace/matching/file_view.h"
#include "hdtrace/matching/open_files.h"

namespace hdtrace {

class FileViews {
  public:
    /// @p objects must outlive this.
    explicit FileViews(const ObjectTable& objects) : m_types(objects) {}

    /// Takes note of a call on the file that has returned, if it opens the file, closes it or sets a view.
    void follow(const Call& call, const ProjectFile& file);

    /// Null if the type of the view is not described, an offset may be several places in it, or the process
    /// has several handles of the file, one of them with a view. Valid until follow() is called.
    const FileView* find(std::int64_t rank, const ProjectFile& file) const;

    bool has_several_handles(std::int64_t rank, const ProjectFile& file) const
    {
        return m_open.handles(rank, file) > 1;
    }

  private:
    TypeMaps m_types;
    OpenFiles m_open;
    /// By rank: what was set; nothing if it is not known.
    std::map<std::pair<std::int64_t, const ProjectFile*>, std::optional<FileView>> m_views;
};

} // namespace hdtrace
