// races.h - what happens in another order in the next run. Reads the traces again, since only all of them
// tell what is ordered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/sends_during_receives.h"

namespace hdtrace {

/// Also decides of those sends. Throws ReadError.
void find_races(Findings& findings, const std::vector<SendDuringReceive>& undecided);

/// Whether there is anything for find_races() to look at.
class RaceSigns : public EventVisitor {
  public:
    /// @p objects must outlive it.
    explicit RaceSigns(const ObjectTable& objects) : m_objects(objects) {}

    void leave(const Call& call) override;
    void accessed(const Call& call, const Operation& operation) override;
    bool any() const { return m_any || std::ranges::any_of(m_files, shares_written_bytes); }

  private:
    /// What a process accesses of a file, roughly.
    struct Span {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        bool is_written = false;
    };
    using File = std::pair<const ProjectFile* const, std::map<std::int64_t, Span>>; ///< by rank

    static bool shares_written_bytes(const File& file);

    const ObjectTable& m_objects;
    std::map<const ProjectFile*, std::map<std::int64_t, Span>> m_files;
    bool m_any = false;
};

} // namespace hdtrace
