// host_orders.h - what a program's messages and collective operations tell about the clocks of its hosts.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/explaining/clock_orders.h"

namespace hdtrace {

/// A position in HostOrders::hosts.
using HostNumber = std::uint32_t;

struct HostOrders {
    /// When something began first there and ended last, by its clock.
    struct Life {
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
    };
    using Pair = std::pair<HostNumber, HostNumber>; ///< the hosts of before and of after

    std::vector<std::string> hosts; ///< in the order of the traces
    std::vector<Life> lives;
    std::map<Pair, std::vector<ClockOrder>> orders; ///< not in their order
};

/// The hosts of a project's traces, in their order.
std::vector<std::string> hosts_of(const OpenedProject& project);

/// Reads all traces, in so many threads: 0 takes as many as there are cores. Of a trace that is broken what
/// stands before that place. Throws OpenError.
HostOrders find_host_orders(const OpenedProject& project, unsigned threads = 0);

} // namespace hdtrace
