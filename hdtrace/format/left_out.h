// left_out.h - what rules and bounds of the user's, or MPI_Pcontrol, left out of the traces of a run, or
// another tool did not record; processes that were not traced at all, and those whose last calls may be
// missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/state.h"
#include "hdtrace/matching/one_sided_rules.h"

namespace hdtrace {

/// Of a `Rule` of a run: whether it takes calls away that did something.
bool leaves_out_deeds(const RunFact& rule);

/// Calls that only ask for what the process knows anyway are nothing that anybody misses. Processes that were
/// killed did not tell; where there were rules, they may have left out anything.
class LeftOut {
  public:
    explicit LeftOut(const Project& project);

    /// Whether calls are missing that did something: not only some that found out that nothing has happened.
    bool has_deeds() const { return m_lacks_others || m_kept_last > 0; }

    /// Whether nothing else is missing than first calls that were given up for later ones (`--keep-last`).
    bool has_all_last() const { return !m_lacks_others; }

    /// Whether calls may name objects that a process could not describe.
    bool has_lost_lines() const { return m_has_lost_lines; }

    /// For people: how many calls of which functions; empty if there is nothing to tell.
    std::string text() const;

  private:
    void add(const RunFact& calls, bool only_empty_polls);
    void add_bound(const RunFact& bound);
    void add_missing_processes(const Project& project);
    void add_end(const RunFact& end);
    void add_part(const RunFact& part);
    void add_origin(const RunFact& origin);
    std::string calls_text() const;
    std::string apart_text() const;

    std::map<std::string, std::uint64_t> m_counts; ///< by function
    std::int64_t m_time = 0;                       ///< nanoseconds in those of them of which that is known
    std::vector<std::string> m_bounds;             ///< that were reached, in words
    std::vector<std::string> m_ends;               ///< behind which calls are missing, in words
    OneSidedRules m_one_sided;
    std::size_t m_kept_last = 0; ///< how many of the bounds took the first ones away
    bool m_lacks_others = false; ///< of others that did something calls are missing
    bool m_has_lost_lines = false;
    bool m_is_for_check = false; ///< there are no rules, but of polls that found nothing few are recorded
    bool m_is_unsure = false;    ///< a process did not tell
};

/// Nanoseconds in polls that found nothing and were left out between the call of this thread before and this
/// one. Where programs are checked, the first ones of such a series are there.
std::int64_t left_out_poll_time(const State& call);

} // namespace hdtrace
