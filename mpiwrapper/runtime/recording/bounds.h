// How much a process may write.
#pragma once

#include "hdtrace/writer/trace_settings.h"

namespace hdtrace::mpi {

/// What the settings say of a further trace. With a limit the recording ends when the traces of the process
/// have the size that is the limit: objects are followed as ever, but nothing is written any more.
void set_bounds(TraceSettings& settings);
bool is_limit_reached();
/// Only the last part is kept.
bool has_window();

} // namespace hdtrace::mpi
