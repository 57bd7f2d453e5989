// What was recorded goes to the files before an error ends the program (settings.for_check).
//
// MPI_ERRORS_ARE_FATAL becomes an error handler that tells the trace which error it was, saves what there is,
// and then lets the library do what it does.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace::mpi {

/// Once MPI is initialised: of the communicators that there are then, and all that are made of them.
void save_before_fatal_errors();
/// Of a new window, which inherits nothing.
void save_before_fatal_errors(MPI_Win window);

/// MPI told the program which error handler a communicator, window or file has: it must not know of ours.
void hide_own_handler(MPI_Errhandler* told);
/// MPI_Errhandler_free, also of what hide_own_handler() told: the library does not know of that reference,
/// and Open MPI counts those of MPI_ERRORS_ARE_FATAL, too.
int free_errhandler(MPI_Errhandler* handler);

/// The program gave one to a communicator, window or file: where it is MPI_ERRORS_ARE_FATAL, ours comes back.
void keep_own_comm_handler(MPI_Comm comm, MPI_Errhandler given);
void keep_own_window_handler(MPI_Win window, MPI_Errhandler given);
void keep_own_file_handler(MPI_File file, MPI_Errhandler given);

/// When a call has returned: ends the program if an error handler would have done so in it, but could not.
void end_by_put_off_error();

/// How often processes save what they have, in nanoseconds.
inline constexpr long flush_interval_for_check = 100'000'000;
/// MPICH's launcher kills all processes at once when one of them reports an error that nobody handles: this
/// gives them the time to save what they have. Other launchers let processes end by themselves.
void let_others_save();

} // namespace hdtrace::mpi
