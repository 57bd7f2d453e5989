// oversubscription.h - whether processes had to wait for a processor: there were more of them than
// processors, or other programs, or their own threads, used these. All times of such a run hold that time,
// too.
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
    /// How much of the same time their main threads could run and had no processor, from 0 to 1. Unknown
    /// where the system or an older tracer does not tell.
    std::optional<double> waiting;
    double most_waiting = 0; ///< the same of the process that waited most
    std::int64_t most_waiting_rank = -1;

    /// For people: "4 processes on 2 processors of node01, each running 52 % of the time and waiting 47 % for
    /// a processor".
    std::string text() const;
};

/// Hosts with more processes than processors, or of which a process waited for a twentieth of the time. None
/// whose processes do not tell how many processors they may use, as in older projects.
std::vector<OversubscribedHost> oversubscribed_hosts(const Project& project);

} // namespace hdtrace
