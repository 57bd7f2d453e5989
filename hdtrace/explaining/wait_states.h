// wait_states.h - which calls waited, why, and for whom.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/explaining/history.h"

namespace hdtrace {

/// A part of a call in which it could not go on. Small, as there are as many as calls.
struct WaitState {
    /// Two years. Only traces that are not true have longer ones, which are shortened.
    static constexpr std::int64_t longest = (std::int64_t{1} << 55) - 1;

    StepId call;
    StepId cause;           ///< the call that ended it when it began; the same call if nobody did
    std::int64_t time : 56; ///< nanoseconds
    WaitKind kind : 8;

    bool has_cause() const { return cause != call; }
};

/// By timeline and step. Of what a call waits for, only what it waits for longest counts: the wait states of
/// a call follow each other within it.
std::vector<WaitState> find_wait_states(const History& history);

/// Wait states that look alike, added up.
struct WaitSum {
    WaitKind kind = WaitKind::late_sender;
    std::int64_t rank = 0;
    std::uint32_t place = 0; ///< of the calls that wait
    bool has_cause = false;
    std::int64_t cause_rank = 0;
    std::uint32_t cause_place = 0; ///< of the calls that ended the waiting
    std::int64_t time = 0;
    std::int64_t count = 0;
};

/// The largest sums first.
std::vector<WaitSum> sum_up(const History& history, const std::vector<WaitState>& waits);

} // namespace hdtrace
