// wait_graph.h - which of the processes that wait for each other can never go on.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace hdtrace {

/// What has to happen before a process goes on: something that all of these processes do, or any of them.
struct WaitCondition {
    enum class Of { all, any };

    Of of = Of::all;
    std::set<std::int64_t> ranks; ///< of nobody: it is fulfilled
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
};

/// Processes that are not in @p waits go on by themselves, unless they are among the @p gone, which do
/// nothing any more. Time and memory grow with the number of ranks in all conditions.
StuckProcesses find_stuck(const std::map<std::int64_t, Wait>& waits, const std::set<std::int64_t>& gone);

/// For whom a process waits that can never go on, among those that cannot either or are gone.
std::set<std::int64_t> awaited_in_vain(const Wait& wait, const std::set<std::int64_t>& stuck,
                                       const std::set<std::int64_t>& gone);

} // namespace hdtrace
