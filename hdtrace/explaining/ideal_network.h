// ideal_network.h - how long a run would take if messages took no time.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/explaining/wait_states.h"

namespace hdtrace {

/// The part of a thread's steps between the beginning of MPI and its end.
struct Working {
    std::uint32_t first = 0; ///< step behind Init
    std::uint32_t last = 0;  ///< Finalize, or behind the last step
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
Working working_part(const Timeline& timeline, const std::vector<Place>& places);

/// A thread on an ideal network.
struct IdealThread {
    std::int64_t end = 0;       ///< when it would come to its end, in nanoseconds since the epoch
    std::int64_t file_time = 0; ///< that it needs for accesses to files without waiting for others
};

/// Each thread, by timeline, on a network without latency and with unlimited bandwidth: calls take no time
/// but what they have to wait for others. Computation and accesses to files take their time, and threads
/// begin when they did.
std::vector<IdealThread> replay_on_ideal_network(const History& history, const std::vector<WaitState>& waits);

} // namespace hdtrace
