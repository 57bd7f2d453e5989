// repair.h - closes traces that were cut off.
#pragma once

#include "hdtrace/format/trc_reader.h"

#include <cstdint>
#include <string>

namespace hdtrace {

/// What is added to the name of a trace that was cut off when it gives its place to a closed one.
inline constexpr const char* original_suffix = ".orig";

/// Whether the process of a trace lives and writes, as far as locks tell. Who reads a trace and closes it
/// asks before: what comes later is not in what was read.
bool is_being_traced(const std::string& path);

/// Puts a closed trace in the place of one that was cut off, which @p reader read to its end and found @p
/// states at the top level. It holds all of them; the original stays beside it. Throws OpenError and
/// tools::FileError, and std::runtime_error that says why the trace cannot be closed, such as that its
/// process writes again: then nothing was changed.
void close_trace(const std::string& path, const TrcReader& reader, std::uint64_t states);

/// Reads the trace, and closes it if it was cut off. Returns what it lacked, empty if it is whole. Throws as
/// close_trace() and TrcReader do.
std::string repair_trace(const std::string& path);

} // namespace hdtrace
