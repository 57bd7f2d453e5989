// writing_process.h - the process of which a trace is, and whether it still writes.
#pragma once

#include <string>

namespace hdtrace::detail {

/// The .info in which the objects of a trace are described: beside it, or that of its process's first thread.
/// Empty if there is none.
std::string info_of_trace(const std::string& trace);

/// Whether the process of a .info lives and writes to it, as its locks tell, which end with it. False of no
/// file, and where a file system has no locks. Throws OpenError if it cannot be asked for.
bool is_being_written(const std::string& info);

} // namespace hdtrace::detail
