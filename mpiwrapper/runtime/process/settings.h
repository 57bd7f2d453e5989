// The settings of the tracer inside a process.
#pragma once

#include "hdtrace/settings/settings.h"

namespace hdtrace::mpi {

extern Settings settings;

/// From the settings file, then the environment. Says what it does not understand.
void read_settings();

/// What a setting's value comes from.
enum class Origin { built_in, file, environment, launcher };
Origin origin_of(const Option& option);

} // namespace hdtrace::mpi
