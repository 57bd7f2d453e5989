// Requests as others see them than the thread that uses them: whoever writes what a call in progress waits
// for. Nothing is locked. What is found belongs to a call only if the call is still in progress afterwards.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

// For Argument::find (hdtrace/writer/open_state.h); the items are MPI_Request, or for find_itself() rids.

int64_t find_itself(const void* rid, const void*, int64_t);

/// The operation, or the last one of a persistent request.
int64_t find_rid(const void* handle, const void* variable, int64_t equal);
/// The operation that has not ended.
int64_t find_active_rid(const void* handle, const void* variable, int64_t equal);
/// Of a persistent request the rid of the call that made it.
int64_t find_init_rid(const void* handle, const void* variable, int64_t equal);
/// That one for a persistent request, else the operation.
int64_t find_own_rid(const void* handle, const void* variable, int64_t equal);

} // namespace hdtrace::mpi
