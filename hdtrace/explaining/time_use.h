// time_use.h - where the time went.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "hdtrace/explaining/history.h"
#include "hdtrace/explaining/wait_states.h"

namespace hdtrace {

constexpr std::size_t call_class_count = static_cast<std::size_t>(CallClass::other) + 1;

/// Nanoseconds of all threads that are meant.
struct Use {
    std::int64_t calls = 0;
    std::int64_t in_calls = 0;
    std::int64_t waiting = 0;     ///< in calls
    std::int64_t computation = 0; ///< between calls, from this one to the next one
    std::array<std::int64_t, call_class_count> in_class = {};

    std::int64_t total() const { return in_calls + computation; }
    Use& operator+=(const Use& other);
};

/// Something that takes time of all processes, over which it may be spread unevenly.
struct Spread {
    std::string_view what;
    std::int64_t total = 0;
    std::int64_t minimum = 0, maximum = 0;
    std::int64_t minimum_rank = 0, maximum_rank = 0; ///< the first ones that have that
    double mean = 0;
};

struct TimeUse {
    TimeUse(const History& history, const std::vector<WaitState>& waits);

    std::map<std::int64_t, Use> by_rank;
    std::vector<Use> by_place; ///< as History::places

    /// Computation, waiting, and what classes of calls take that have been called.
    std::vector<Spread> spreads() const;
};

/// By place: of one of the history's timelines alone. The sums of all of them are those of TimeUse.
std::vector<Use> use_of_timeline(const History& history, const std::vector<WaitState>& waits,
                                 std::uint32_t number);

} // namespace hdtrace
