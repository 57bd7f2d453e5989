// What tells this process from the others of the run, and the second that its times count from.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

#include <limits.h>
#include <stdint.h>

namespace hdtrace::mpi {

struct Identity {
    char host[HOST_NAME_MAX + 1] = "localhost";
    int rank = 0; ///< in its world
    int size = 0; ///< of its world
    /// Of its MPI_COMM_WORLD: "W", or "W" and the label for processes that were spawned. Their ranks start
    /// from 0 again.
    const char* world_uid = "W";
    const char* world_label = "";
};

/// Finds it out; MPI must be initialised. @p world is the group that ranks in the trace count in. Processes
/// that use sessions in place of MPI_Init have no world communicator.
void find_identity(MPI_Group world, bool has_world_communicator);
/// The same before MPI is initialised. False if the launcher does not tell it.
bool find_identity_by_launcher();
const Identity& this_process();
/// Its launcher has started several, but it is alone in its world: the launcher is one of another MPI
/// library.
bool is_alone_beside_others();

/// Times in the trace count from the current second.
void start_time();
bool has_start_time();
/// Nanoseconds since the epoch that times in the trace count from; 0 before start_time().
int64_t time_base();
/// The same in seconds.
int64_t base_second();

} // namespace hdtrace::mpi
