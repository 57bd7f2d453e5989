// wait_graph.h - which of the processes that wait for each other can never go on.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "hdtrace/checking/shared_ranks.h"

namespace hdtrace {

/// What has to happen before a process goes on: something that all of these processes do, or any of them, or
/// some of them, of which nobody knows which: it may be any.
struct WaitCondition {
    enum class Of { all, any, some };

    Of of = Of::all;
    SharedRanks ranks;        ///< of nobody: it is fulfilled
    std::int64_t except = -1; ///< the process itself, if it is one of them and does not count

    std::size_t size() const { return ranks->size() - ranks->count(except); }
    bool has(std::int64_t rank) const { return rank != except && ranks->contains(rank); }
};

/// What a process waits for: all of the conditions, or any of them (MPI_Waitall, MPI_Waitany).
struct Wait {
    WaitCondition::Of of = WaitCondition::Of::all;
    std::vector<WaitCondition> conditions; ///< none: it waits for nothing
};

/// Processes that wait for each other: each of them for another one, directly or by others.
using Circle = std::set<std::int64_t>;

struct StuckProcesses {
    std::set<std::int64_t> all;  ///< that can never go on
    std::vector<Circle> circles; ///< the deadlocks: among them those who wait for nobody outside
    /// For whom each of them waits in vain: of its conditions that are not fulfilled the ranks that can never
    /// go on either or are gone. Conditions that had ranks in common share them here, too.
    std::map<std::int64_t, std::vector<WaitCondition>> awaited;
};

/// Processes that are not in @p waits go on by themselves, unless they are among the @p gone, which do
/// nothing any more. Time and memory grow with the number of conditions, and with that of ranks in those that
/// do not share them.
StuckProcesses find_stuck(const std::map<std::int64_t, Wait>& waits, const std::set<std::int64_t>& gone);

} // namespace hdtrace
