// open_files.h - how often each process has the same file open.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Calls name the file. Where a process has several handles of it, nobody knows which of them a call uses.
class OpenFiles {
  public:
    /// Takes note of a call on the file that has returned, if it opens the file or closes it.
    void follow(const Call& call, const ProjectFile& file)
    {
        if (call.has_failed())
            return;
        const auto key = std::pair(call.trace.rank, &file);
        if (call.facts.makes == ObjectKind::file)
            ++m_handles[key];
        else if (call.facts.frees == ObjectKind::file && --m_handles[key] <= 0)
            m_handles.erase(key);
    }

    std::int64_t handles(std::int64_t rank, const ProjectFile& file) const
    {
        const auto found = m_handles.find({rank, &file});
        return found == m_handles.end() ? 0 : found->second;
    }

  private:
    std::map<std::pair<std::int64_t, const ProjectFile*>, std::int64_t> m_handles; ///< by rank
};

} // namespace hdtrace
