// writing_process.h - whether the process of a trace still writes.
#pragma once

#include <string>

namespace hdtrace::detail {

/// Whether the process of a .info lives and writes to it, as its locks tell, which end with it. False of no
/// file, and where a file system has no locks. Throws as place_in_node_file().
bool is_being_written(const std::string& info);

} // namespace hdtrace::detail
