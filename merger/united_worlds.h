// Finds out who the members of communicators are that have processes of several worlds.
#pragma once

#include "merger/communicators.h"
#include "merger/report.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// Which ranks in the project the numbers stand for by which a process knows members of other worlds.
struct ForeignRanks {
    std::int64_t rank = 0; ///< of the process
    /// From `world`, which is the number, to `local`, which is the rank; in the order of the numbers.
    std::vector<RankRun> runs;
};

struct UnitedWorlds {
    std::vector<ForeignRanks> foreign;  ///< in the order of the ranks; without those that nothing is known of
    std::vector<std::size_t> positions; ///< where a communicator is now that was at a position
    std::vector<std::pair<std::size_t, std::size_t>> links; ///< worlds that have a communicator in common
};

/// Gives communicators all members that some process of theirs tells, and makes one of those of which both
/// sides have described their own; those that have moved lose their ids. @p foreign is in the order of the
/// ranks.
UnitedWorlds unite_worlds(std::vector<MergedCommunicator>& communicators, std::vector<ForeignMembers> foreign,
                          Report& report);

} // namespace hdtrace::merger
