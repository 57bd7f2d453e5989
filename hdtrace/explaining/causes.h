// causes.h - what made others wait.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/explaining/activities.h"

namespace hdtrace {

/// What a process did longer than those that waited for it, and what that cost them.
struct Cause {
    std::int64_t rank = 0;
    Activity activity;
    double direct = 0;              ///< nanoseconds for which others waited for this process
    double propagated = 0;          ///< nanoseconds for which others waited for those, and so on
    std::int64_t waiting_ranks = 0; ///< how many processes waited for this process

    double cost() const { return direct + propagated; }
};

/// The costliest first. All costs together are the time of all wait states that have causes.
///
/// Whoever ends the waiting of a process late did something longer than it since they last met: that is its
/// delay. The time of the wait state is shared among these activities as they took longer, and also among
/// those wait states of the late process that took longer, whose own causes inherit their share.
std::vector<Cause> find_causes(const History& history, const std::vector<WaitState>& waits);

} // namespace hdtrace
