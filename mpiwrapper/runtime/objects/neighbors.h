// Neighbors in a communicator with a topology.
#pragma once

#include "mpiwrapper/runtime/objects/communicators.h"

namespace hdtrace::mpi {

/// World ranks, in the order of the neighborhood collectives.
struct Neighbors {
    int source_count;
    int destination_count;
    int* sources;
    int* destinations;
    int indegree = 0; ///< of the sources, how many are processes, and not MPI_PROC_NULL
    int outdegree = 0;
};

/// None if there is no topology or memory is short.
const Neighbors& neighbors_of(MPI_Comm handle, const Comm& comm);

} // namespace hdtrace::mpi
