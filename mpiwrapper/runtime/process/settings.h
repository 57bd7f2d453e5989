// The settings of the tracer inside a process.
#pragma once

#include "hdtrace/settings/settings.h"

namespace hdtrace::mpi {

extern Settings settings;

/// From the environment. Says what it does not understand.
void read_settings();

} // namespace hdtrace::mpi
