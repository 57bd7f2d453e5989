// When tracing starts, pauses and stops in this process.
#pragma once

#include "mpiwrapper/runtime/recording/thread.h"

namespace hdtrace::mpi {

/// Makes the calling thread known, if MPI is initialised and the process is traced, or if the program is to
/// be checked and @p is_too_early_before_init.
Thread* enter_thread(bool is_too_early_before_init = false);

/// While MPI_Init runs, calls that the MPI library makes are not looked at. Times count from here.
void begin_init();
void init_failed();
/// MPI_Init is done. Opens the trace; does nothing if that has been done. @p thread_level is what MPI
/// provides.
void start(int thread_level);
#ifdef HDT_HAS_MPI_Session_init
/// The same for a program that uses sessions in place of MPI_Init.
void start_from_session(MPI_Session session);
#endif

/// Whether this process is traced or has been, or its parent was before fork().
bool has_been_traced();
/// Not in a child of fork(), if has_been_traced().
bool is_traced_process();

/// MPI_Finalize is done, and the program is to be checked: what it still calls is wrong, and goes to the
/// trace (Call::note_outside).
void watch_calls_after_finalize();
/// Where a call is that is wrong because MPI is not initialised yet, "before", or is finalised, "after". Null
/// inside.
const char* side_of_outside_calls();

/// MPI_Pcontrol.
void pause_recording();
void resume_recording();
/// Whole lines of the calling thread, and all descriptions, go to the files.
void flush_own_trace();

/// What all threads have recorded so far goes to the files, with the calls that they are in. Does nothing in
/// a child of fork() or vfork(). Safe in signal handlers.
void save_all_threads();
/// The same before @p signal ends the process; 0 if it may not.
void save_before_signal(int signal);
/// The same before a signal that does end the process: who begins a call waits for the end, as what it did
/// would be lost.
void save_before_end(int signal);
/// Whether a call that begins has waited so. The end did not come, and calls are recorded as before; not
/// where the saving takes too long. Any thread; false at once without save_before_end().
bool has_waited_for_end();
/// Closes all files. Nothing is recorded after it. Does nothing in a child of fork() or vfork(). Safe in
/// signal handlers.
void stop();
/// The same when the process ends by itself: says so if there was nothing to record.
void stop_at_exit();

} // namespace hdtrace::mpi
