// clocks.h - how the clocks of hosts differ, and histories in which they do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/explaining/history.h"

namespace hdtrace {

/// What has to be added to the times of a host. Times are nanoseconds.
struct HostClock {
    struct Part {
        std::int64_t from = 0;   ///< by the clock itself, since the epoch
        std::int64_t offset = 0; ///< to be added at that time
        double drift = 0;        ///< how much more for each nanosecond later
    };

    std::string host;
    /// Several where the clock was set while the program ran; the first holds from the beginning on.
    std::vector<Part> parts{Part()};
    /// By how much the times may be wrong against those of the host that it was compared with, and that one's
    /// against others; nothing if nothing bounds it on both sides.
    std::optional<double> uncertainty;

    std::int64_t corrected(std::int64_t time) const;
};

/// Compares clocks: nothing is received before it was sent. Hosts are compared with the first one directly or
/// by others, and @p host_of tells the host of each timeline, a position in @p hosts. What no message tells
/// is left as it is.
///
/// A clock is taken to run evenly but for steps: the line that stays farthest from what the messages in both
/// directions allow (as Duda et al., Estimating global time in distributed systems, 1987).
std::vector<HostClock> compare_clocks(const History& history, const std::vector<std::string>& hosts,
                                      const std::vector<std::uint32_t>& host_of);

/// Sets all times of the history right.
void correct(History& history, const std::vector<HostClock>& clocks,
             const std::vector<std::uint32_t>& host_of);

/// How many messages are received before they are sent.
std::int64_t count_reversed(const History& history);

} // namespace hdtrace
