// Which processes and threads a project has, for formats that number and name them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/format/traces.h"

namespace hdtrace::exporter {

/// All traces. Where levels of the program's own take the place of ranks, each trace is a process with a
/// number behind those of all ranks.
struct NumberedTraces {
    std::vector<TraceFile> traces;
    std::int64_t rank_count = 0;  ///< also of processes without traces; 0 where no process has a rank
    std::int64_t first_other = 0; ///< the numbers from it on are none of ranks
};

NumberedTraces numbered_traces(const Project& project);

/// Of a whole trace, also the calls in which its process ended: what is inside them has happened.
Selection all_calls();

/// "Rank 3"; of a process that has none "Process (node01 io)", with the labels of its trace.
std::string process_name(const NumberedTraces& all, std::int64_t number,
                         const std::vector<std::string>& labels);

/// The names that the system has for threads, by rank and number.
std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names(const Project& project);

} // namespace hdtrace::exporter
