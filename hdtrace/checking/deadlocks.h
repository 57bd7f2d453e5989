// deadlocks.h - says which processes can never go on, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/waiting_calls.h"

namespace hdtrace {

/// Processes that wait for each other, or one that waits for others which have ended.
struct Deadlock {
    std::string text; ///< who waits where for whom
    /// They, and then those who wait for them, each by rank.
    std::vector<WaitingProcess> processes;
    bool is_certain = true; ///< not if one of those in the circle may do more than poll
};

/// By their first ranks. @p waiting must outlive the result; the @p ended have returned from MPI_Finalize.
std::vector<Deadlock> find_deadlocks(const std::map<std::int64_t, WaitingCall>& waiting,
                                     const std::set<std::int64_t>& ended);

/// "rank 3", "ranks 0, 1 and 2", "ranks 0, 1, ... and 5 more". @p count is how many there are, if more than
/// those in @p ranks, which are the first ones then.
std::string ranks_text(const std::set<std::int64_t>& ranks, std::size_t count = 0);

} // namespace hdtrace
