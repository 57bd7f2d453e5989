// The processor time of the calling thread.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// In nanoseconds. Costs a system call.
int64_t thread_cpu_time();

/// Appends it, and the end of the attribute.
char* put_cpu_time(char* out, int64_t nanoseconds);

} // namespace hdtrace::mpi
