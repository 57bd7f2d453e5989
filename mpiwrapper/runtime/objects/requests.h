// Which operation a request handle stands for.
//
// Handles alone do not tell: Open MPI gives every send that completes at once the same one, and all libraries
// use freed ones again. So each started operation is an entry under its handle and the address of the
// variable that the handle was stored in. Where a program moved the handle elsewhere, the oldest entry with
// that handle is taken.
#pragma once

#include "mpiwrapper/runtime/objects/request.h"

namespace hdtrace::mpi {

/// A new id.
int64_t next_rid();

/// Remembers a new operation or persistent request, and gives it its id. @p variable is where the program
/// stored the handle. What a nested call has made in the same place is this very request: it keeps its id.
void add_request(MPI_Request handle, const MPI_Request* variable, Request& request);

/// The entry of a handle; false if there is none. Below @p frame, the wrapper's __builtin_frame_address(0),
/// the stack has no variables any more: with it `is_doubtful` also tells where an equal handle that was there
/// may be in this variable now.
bool find_request(MPI_Request handle, const MPI_Request* variable, Request* request,
                  const void* frame = nullptr);

/// Calls @p use for all operations of a handle, from the oldest on. It must not call functions of this file.
void for_all_requests(MPI_Request handle, void (*use)(const Request& request));

/// A request that a completion call was given.
struct Offer {
    MPI_Request handle; ///< before the call
    bool has_ended;     ///< the call completed it
    // Found by settle_requests().
    bool is_known;
    Request request; ///< as it was before the call, if it is known; of a null handle it means nothing
};

/// After a completion call: finds the requests, each entry for one offer only. Entries that have ended are
/// removed, or become inactive if they are persistent. Who removes an entry drops its reference to `comm`
/// after use. @p frame as for find_request().
void settle_requests(Offer* offers, const MPI_Request* variables, int count, const void* frame = nullptr);

/// MPI_Start: gives the persistent request a new operation. Open MPI may replace the handle, @p before, by
/// another one if the last operation still needs it.
Request start_request(MPI_Request before, MPI_Request handle, const MPI_Request* variable);

/// MPI_Request_free: the entry is removed whatever its state.
bool remove_request(MPI_Request handle, const MPI_Request* variable, Request* request);

/// MPI_Cancel.
void mark_cancelled(MPI_Request handle, const MPI_Request* variable);

/// Call this before the second thread appears.
void set_requests_shared_by_threads();

} // namespace hdtrace::mpi
