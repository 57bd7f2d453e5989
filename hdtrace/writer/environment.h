// The settings that the C API takes from the environment.
#pragma once

#include "hdtrace/writer/trace_writer.h"

namespace hdtrace {

struct Environment {
    const char* directory; ///< owned by the environment
    TraceSettings settings;
};

/// Returns 0, or EINVAL if a value cannot be understood.
int read_environment(Environment& environment);

/// @p text is 0 or 1. The functions return false if the text is something else.
bool parse_bool(const char* text, bool& value);
/// @p text is a number of bytes, perhaps with the suffix K, M or G.
bool parse_size(const char* text, int64_t& bytes);

} // namespace hdtrace
