// A thread of ours that does some things from time to time: writes to the files, because nobody can when the
// process is killed, and samples what goes on while the program does not call MPI.
#pragma once

#include <span>
#include <stdint.h>

namespace hdtrace::mpi {

struct Duty {
    int64_t interval; ///< nanoseconds; 0: never
    void (*act)();
};

/// Calls @p begin, and then what is to be done regularly, until stop_flush_thread(). False if no thread can
/// be made, or there is nothing to do.
bool start_flush_thread(void (*begin)(), std::span<const Duty> duties);
/// Safe in signal handlers.
void stop_flush_thread();
/// The same, and waits until the system does not count it as a thread of the process any more, which
/// pthread_join() does not tell; a second at most, since it may be waiting for a file system.
void end_flush_thread();
/// The program's main thread ended, others may go on. The process ends with the last of them, which must not
/// be ours.
void main_thread_left();

} // namespace hdtrace::mpi
