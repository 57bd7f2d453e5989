// Windows for one-sided communication: ids, and the communicator that their ranks count in.
#pragma once

#include "mpiwrapper/runtime/mpi_api.h"

#include <stdint.h>

namespace hdtrace::mpi {

struct Comm;

struct Window
{
    int64_t id = -1;
    const Comm* comm = nullptr; ///< of its creation; the window keeps a reference to it
};

/// A new window is described in the .info before this returns. @p size is in bytes, of this process's part.
void created_window(MPI_Win handle, const Comm& comm, int64_t size, int64_t displacement_unit);
/// The window of a handle; one without id if it is not known.
Window find_window(MPI_Win handle);
void freed_window(MPI_Win handle);
/// Remembers the name that the program gave it.
void name_window(const Window& window, const char* name);

/// Raised whenever a window was freed.
extern uint64_t window_generation;

} // namespace hdtrace::mpi
