// Finds the files that belong to the inputs named by the user.
#pragma once

#include "merger/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

/// The .info of a process (or of one of its threads, as older tracers wrote it) and those of its traces that
/// were found or named.
struct InfoInput {
    std::string info;                ///< path; empty if there are only traces
    std::vector<std::string> traces; ///< paths
    std::string world = {};          ///< its uid, as by_world() finds it; empty if nothing tells or needs it
};

/// Whether the name of a file is that of a .info or of a .trc, which may be compressed.
bool is_trace_file(std::string_view path);

/// @p arguments are .info and .trc files, directories, and names of programs or traces without extension.
/// The result does not depend on their order; nothing is in it twice. Processes come in the order of their
/// ranks. Arguments that lead to no file are errors.
std::vector<InfoInput> find_inputs(const std::vector<std::string>& arguments, Report& report);

} // namespace hdtrace::merger
