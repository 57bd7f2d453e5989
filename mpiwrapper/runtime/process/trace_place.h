// Where the files of this process are: their directory and their names.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// Makes the directory and opens the .info there, under a name that no living process has. The identity of
/// the process must be known. False if there is no memory for the names, or no name is free; that nothing
/// can be written there is only reported.
bool open_trace_place();

/// The first part of file names: the program's name, and what tells this process from others of that name.
const char* base_name();
/// What all names begin with: "<directory>/<base name>_<host>_<rank>_".
const char* path_prefix();

/// Tells the user that this process's trace is not complete; once. Safe in signal handlers.
void report_write_error(const char* path, int error);

} // namespace hdtrace::mpi
