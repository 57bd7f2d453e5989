// What happens to the trace when a signal ends the program.
#pragma once

namespace hdtrace::mpi {

/// From now on a signal that would end the process first calls @p save with its number, in its handler; with
/// 0 where a handler may let the process go on. Handlers that the program or the MPI library have installed
/// run as before, and the process ends as it would have ended. Call it once, after MPI_Init.
void watch_fatal_signals(void (*save)(int signal));

/// Gives the calling thread a stack for signal handlers if it has none: else nobody could do anything after a
/// stack overflow. Null if nothing was done.
void* provide_signal_stack();
void take_back_signal_stack(void* stack);

} // namespace hdtrace::mpi
