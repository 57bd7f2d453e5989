// Makes files of their own of those in a node file.
#pragma once

#include "merger/upkeep/new_files.h"

#include <string>

namespace hdtrace::merger {

/// Writes the files beside it, all or none, and then removes it. Returns how many they are. Throws OpenError,
/// FileError, and UpkeepError if a process still writes to it or no files are in it.
std::size_t split_node_file(const std::string& path, const ByteProgress& progress);

} // namespace hdtrace::merger
