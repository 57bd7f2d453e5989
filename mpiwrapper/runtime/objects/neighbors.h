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
};

/// None if there is no topology or memory is short.
const Neighbors& neighbors_of(MPI_Comm handle, const Comm& comm);

} // namespace hdtrace::mpi
