// What is known of a started operation.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

#include <stdint.h>

namespace hdtrace::mpi {

struct Comm;

enum class RequestKind : uint8_t {
    operation,             ///< anything whose status tells nothing
    access,                ///< to a file: its status tells how many bytes were transferred
    receive,               ///< its status tells who sent what
    receive_from_proc_null ///< from MPI_PROC_NULL; not all libraries give it a status
};

/// Of a request that receives.
inline RequestKind receive_kind(int source)
{
    return source == MPI_PROC_NULL ? RequestKind::receive_from_proc_null : RequestKind::receive;
}

/// Of a request that both sends and receives. MPICH answers with the status of an earlier operation.
inline RequestKind exchange_kind(int source)
{
    const RequestKind kind = receive_kind(source);
#ifdef MPICH_NUMVERSION
    return kind == RequestKind::receive ? RequestKind::operation : kind;
#else
    return kind;
#endif
}

/// One started operation, or a persistent request that waits for MPI_Start.
struct Request {
    int64_t rid = -1;           ///< of the operation
    int64_t init_rid = -1;      ///< of the persistent request that it was started from
    const Comm* comm = nullptr; ///< of a receive: what the ranks in the status refer to
    int64_t size = 0;           ///< of an access: the bytes that were asked for
    RequestKind kind = RequestKind::operation;
    bool is_persistent = false;
    bool is_active = true;
    bool is_cancelled = false; ///< MPI_Cancel was called for it
    bool is_doubtful = false;  ///< of several with equal handles that were moved: it may be another one
    int16_t depth = 0;         ///< calls that its thread was in when it made it
};

/// Where nobody may look at the status.
inline Request without_status(Request request)
{
    request.kind = RequestKind::operation;
    request.is_cancelled = false;
    return request;
}

} // namespace hdtrace::mpi
