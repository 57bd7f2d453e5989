// Samples the counters of the process and of its node, whether or not the program calls MPI. They have a
// trace of their own.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// Opens the trace, if there is such a counter, and takes the first sample. The main thread has its trace.
void start_process_counters();
/// The calling thread will take the next ones.
void continue_process_counters();
/// Safe in signal handlers.
void sample_process_counters();
/// How often to do so, in nanoseconds; 0: never.
int64_t process_counter_interval();

} // namespace hdtrace::mpi
