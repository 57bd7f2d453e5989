// thread_check.h - calls that threads may not make, or not at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "hdtrace/checking/findings.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// What MPI provided is what the project tells of the program. Calls that only ask what the process knows
/// anyway are let pass.
class ThreadCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit ThreadCheck(Findings& findings);

    void enter(const Call& call) override;

  private:
    /// Of those that may not overlap with others, the one that ends last so far.
    struct LastCall {
        std::int64_t end = 0;
        std::string name;
        CallPlace place;
    };
    /// A process whose threads may not all call MPI as they like.
    struct Process {
        bool is_for_one_thread = false;
        std::string provided;
        LastCall last;
    };

    void add(const RunFact& program);
    void check_level(Process& process, const Call& call);
    void check_end(const Call& call);
    /// The thread of the process that began MPI; -1 if that is not known.
    std::int64_t main_thread(std::int64_t rank) const;
    void check_collective(const Call& call);
    /// Whether another thread is in the last call; this one comes behind it.
    static bool overlaps(LastCall& last, const Call& call, const CallPlace& place, LastCall& other);
    void report(const CallPlace& place, std::string text, const CallSite* other_site);

    Findings& m_findings;
    const std::set<std::int64_t> m_with_threads;           ///< processes of which several threads have traces
    std::unordered_map<std::int64_t, Process> m_processes; ///< by rank
    std::unordered_map<std::int64_t, std::int64_t> m_main_threads;           ///< by rank
    std::map<std::pair<std::int64_t, std::int64_t>, LastCall> m_collectives; ///< by rank and communicator
    std::set<std::pair<std::int64_t, const CallSite*>> m_told;
};

} // namespace hdtrace
