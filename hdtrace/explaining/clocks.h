// clocks.h - how the clocks of hosts differ.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/explaining/history.h"
#include "hdtrace/explaining/host_orders.h"
#include "hdtrace/format/host_clock.h"

namespace hdtrace {

/// Compares clocks: nothing is received before it was sent. Hosts are compared with the first one directly or
/// by others. What no message tells is left as it is.
///
/// A clock is taken to run evenly if it can, and otherwise as ClockFit says: between what the messages in
/// both directions allow (as Duda et al., Estimating global time in distributed systems, 1987).
std::vector<HostClock> compare_clocks(const HostOrders& orders);

/// Of the hosts of a project, whose traces are read for it; none if they are all of one host. Throws
/// OpenError.
std::vector<HostClock> compare_clocks(const OpenedProject& project);

/// How many messages are received before they are sent.
std::int64_t count_reversed(const History& history);

} // namespace hdtrace
