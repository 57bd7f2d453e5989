// What happens to the trace when a signal ends the program.
#pragma once

#include <stddef.h>

namespace hdtrace::mpi {

/// From now on a signal that would end the process first calls @p before_end with its number, in its handler.
/// Where the program or the MPI library have installed a handler, it calls @p before_handler, with 0 where
/// the handler may let the process go on. Of many faults in a short time, whose handlers let it go on, only
/// some do, and a handler's giving up (sigaction() there) calls it with the number. Then these handlers run
/// as before, and the process ends as it would have ended. Call it once, after MPI_Init.
void watch_fatal_signals(void (*before_end)(int signal), void (*before_handler)(int signal));

/// What a thread was given.
struct SignalStack {
    void* memory = nullptr; ///< null if it was given nothing
    size_t size = 0;        ///< with what lies below, which nobody may use
};

/// Gives the calling thread a stack for signal handlers if it has none: else nobody could do anything after a
/// stack overflow. Handlers of the program may run on it, which expect as much as the thread's own has: @p
/// size, 0 if that is not known.
SignalStack provide_signal_stack(size_t size);
void take_back_signal_stack(const SignalStack& stack);

} // namespace hdtrace::mpi
