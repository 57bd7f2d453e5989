// The settings of the tracer inside a process.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// The settings, from the environment (hdtrace/options.toml).
struct Settings {
#define HDT_OPTION_BOOL(name, variable, default) bool name = default;
#define HDT_OPTION_INT(name, variable, default, min, max) int name = default;
#define HDT_OPTION_SIZE(name, variable, default, min) int64_t name = default;
#define HDT_OPTION_TEXT(name, variable, default) const char* name = default;
#include "hdtrace_options.inc"
#undef HDT_OPTION_BOOL
#undef HDT_OPTION_INT
#undef HDT_OPTION_SIZE
#undef HDT_OPTION_TEXT
};

extern Settings settings;

/// From the environment. Says what it does not understand.
void read_settings();

} // namespace hdtrace::mpi
