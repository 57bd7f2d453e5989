// A thread of ours that writes to the files from time to time, because nobody can when the process is killed.
#pragma once

namespace hdtrace::mpi {

/// Calls @p save every @p seconds, until stop_flush_thread(); 0: never. Where no thread can be made it does
/// nothing.
void start_flush_thread(int seconds, void (*save)());
/// Safe in signal handlers.
void stop_flush_thread();
/// The program's main thread ended, others may go on. The process ends with the last of them, which must not
/// be ours.
void main_thread_left();

} // namespace hdtrace::mpi
