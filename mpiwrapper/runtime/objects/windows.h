// Windows for one-sided communication: ids, and the communicator that their ranks count in.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"
#include "mpiwrapper/runtime/objects/handle.h"

#include <stdint.h>

namespace hdtrace::mpi {

struct Comm;

struct Window {
    int64_t id = -1;
    const Comm* comm = nullptr; ///< of its creation; the window keeps a reference to it
};

/// A new window is described in the .info before this returns. @p size is in bytes, of this process's part.
void created_window(MPI_Win handle, const Comm& comm, int64_t size, int64_t displacement_unit);
/// The window of a handle; one without id if it is not known.
Window find_window(MPI_Win handle);
/// Another thread may have made a window with the same handle in the meantime. @p window is what was found
/// before the call.
void freed_window(MPI_Win handle, const Window& window);
/// Remembers the name that the program gave it.
void name_window(const Window& window, const char* name);

/// Ended whenever a window was freed.
extern Generations<MPI_Win> window_generations;

} // namespace hdtrace::mpi
