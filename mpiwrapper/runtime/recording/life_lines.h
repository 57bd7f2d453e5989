// The lines of the .info that tell when threads and the process began and ended, and what they used.
#pragma once

#include "mpiwrapper/runtime/recording/thread.h"

namespace hdtrace::mpi {

// Safe in signal handlers.

/// The thread has begun to record.
void describe_begin_of(const Thread& thread);
/// The same when it ends, with the name that it has by then.
void describe_end_of(const Thread& thread);
/// The signal, which came at @p time, ends the process, as it seems. To be called when the calls before it
/// are saved.
void describe_signal(int signal, int64_t time);
/// The processor time that the process has used up to now.
void describe_cpu_time();

} // namespace hdtrace::mpi
