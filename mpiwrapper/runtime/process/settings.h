// The settings of the tracer inside a process.
#pragma once

#include "hdtrace/settings/settings.h"

namespace hdtrace::mpi {

extern Settings settings;

/// From the settings file, then the environment. Says what it does not understand in the file.
void read_settings();
/// The same of the environment, in one process of a run; for when there will be a trace.
void say_wrong_variables();

/// What a setting's value comes from.
enum class Origin { built_in, file, environment, launcher };
Origin origin_of(const Option& option);

} // namespace hdtrace::mpi
