// Makes files of their own of those in a node file.
#pragma once

#include "hdtrace/format/traces.h"
#include "merger/upkeep/new_files.h"

#include <string>
#include <vector>

namespace hdtrace::merger {

/// Throws UpkeepError if a node file that one of these is in was cut off.
void refuse_cut_off(const std::vector<TraceFile>& traces);

/// Writes the files beside it, all or none, and then removes it. Returns how many they are. Throws OpenError,
/// FileError, and UpkeepError if a process still writes to it or no files are in it.
std::size_t split_node_file(const std::string& path, const ByteProgress& progress);

} // namespace hdtrace::merger
