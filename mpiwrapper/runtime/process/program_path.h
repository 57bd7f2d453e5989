// Which file the program is.
#pragma once

namespace hdtrace::mpi {

/// Whether the user ran the dynamic loader, and the program is its argument (ld-linux-x86-64.so.2 ./app):
/// /proc/self/exe is the loader then.
bool is_started_by_loader();

/// The path as the system resolves it; empty if it cannot be told. Looked up once, at best in MPI_Init: later
/// the program may be where there is no /proc, or may not open it.
const char* program_path();

} // namespace hdtrace::mpi
