// oversubscription.h - whether more processes ran on a host than it has processors. All times of such a run
// also hold the time in which a process waited for a processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

struct OversubscribedHost {
    std::string host;
    std::int64_t processes = 0;
    std::int64_t processors = 0; ///< that these processes may use together, at most
    /// How much of the time from the begin of MPI to the end they had a processor, from 0 to 1; threads of a
    /// process count together. Unknown where processes were killed.
    std::optional<double> running;

    /// For people: "4 processes on 2 processors of node01".
    std::string text() const;
};

/// None of hosts whose processes do not tell how many processors they may use, as in older projects.
std::vector<OversubscribedHost> oversubscribed_hosts(const Project& project);

} // namespace hdtrace
