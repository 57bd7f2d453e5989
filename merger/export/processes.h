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
std::vector<TraceFile> numbered_traces(const Project& project);

/// The names that the system has for threads, by rank and number.
std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names(const Project& project);

} // namespace hdtrace::exporter
