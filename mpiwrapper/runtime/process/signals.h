// What happens to the trace when a signal ends the program.
#pragma once

#include <stddef.h>

namespace hdtrace::mpi {

/// From now on a signal that would end the process first calls @p save with its number, in its handler; with
/// 0 where a handler may let the process go on. Of many faults in a short time, whose handlers let it go on,
/// only some do, and a handler's giving up (sigaction() there) calls it with the number. Where there is no
/// handler, it calls @p hold_calls before. Handlers that the program or the MPI library have installed run as
/// before, and the process ends as it would have ended. Call it once, after MPI_Init.
void watch_fatal_signals(void (*save)(int signal), void (*hold_calls)());

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
