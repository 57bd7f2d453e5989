#include "mpiwrapper/runtime/objects/neighbors.h"

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/library/real.h"

#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

struct Topology {
    int kind = MPI_UNDEFINED;
    int dimensions = 0; // of a Cartesian one
    int sources = 0;
    int destinations = 0;
};

Topology topology_of(MPI_Comm handle, const Comm& comm)
{
    Topology topology;
    real.MPI_Topo_test(handle, &topology.kind);
    if (topology.kind == MPI_CART) {
        real.MPI_Cartdim_get(handle, &topology.dimensions);
        topology.sources = topology.destinations = 2 * topology.dimensions;
    } else if (topology.kind == MPI_GRAPH) {
        real.MPI_Graph_neighbors_count(handle, comm.rank, &topology.sources);
        topology.destinations = topology.sources;
    } else if (topology.kind == MPI_DIST_GRAPH) {
        int is_weighted = 0;
        real.MPI_Dist_graph_neighbors_count(handle, &topology.sources, &topology.destinations, &is_weighted);
    }
    return topology;
}

// In one block of memory; the weights are asked for because MPI has no way to leave them out everywhere.
// Null if memory is short.
Neighbors* allocate(const Topology& topology)
{
    const size_t count = static_cast<size_t>(topology.sources) + static_cast<size_t>(topology.destinations);
    Neighbors* const memory =
        static_cast<Neighbors*>(own_calloc(1, sizeof(Neighbors) + 2 * count * sizeof(int)));
    if (memory == nullptr)
        return nullptr;
    int* const ranks = reinterpret_cast<int*>(memory + 1);
    *memory = {topology.sources, topology.destinations, ranks, ranks + topology.sources};
    return memory;
}

// Their ranks in the communicator.
void ask(MPI_Comm handle, const Comm& comm, const Topology& topology, Neighbors& found)
{
    const int sources = found.source_count, destinations = found.destination_count;
    int* const weights = found.destinations + destinations;
    if (topology.kind == MPI_CART) {
        for (int i = 0; i < topology.dimensions; ++i)
            real.MPI_Cart_shift(handle, i, 1, &found.sources[2 * i], &found.sources[2 * i + 1]);
        memcpy(found.destinations, found.sources, static_cast<size_t>(sources) * sizeof(int));
    } else if (topology.kind == MPI_GRAPH) {
        real.MPI_Graph_neighbors(handle, comm.rank, sources, found.sources);
        memcpy(found.destinations, found.sources, static_cast<size_t>(sources) * sizeof(int));
    } else if (topology.kind == MPI_DIST_GRAPH) {
        real.MPI_Dist_graph_neighbors(handle, sources, found.sources, weights, destinations,
                                      found.destinations, weights + sources);
    }
}

int processes_among(const int* ranks, int count)
{
    int processes = 0;
    for (int i = 0; i < count; ++i)
        processes += ranks[i] != proc_null ? 1 : 0;
    return processes;
}

} // namespace

const Neighbors& neighbors_of(MPI_Comm handle, const Comm& comm)
{
    static const Neighbors none = {};
    if (&comm == &null_comm)
        return none;
    if (const Neighbors* const known = __atomic_load_n(&comm.neighbors, __ATOMIC_ACQUIRE))
        return *known;
    const Topology topology = topology_of(handle, comm);
    Neighbors* const found = allocate(topology);
    if (found == nullptr)
        return none;
    ask(handle, comm, topology, *found);
    for (int i = 0; i < found->source_count + found->destination_count; ++i)
        found->sources[i] = static_cast<int>(world_rank(comm, found->sources[i]));
    found->indegree = processes_among(found->sources, found->source_count);
    found->outdegree = processes_among(found->destinations, found->destination_count);
    // Another thread may have been faster.
    Neighbors* present = nullptr;
    if (__atomic_compare_exchange_n(&const_cast<Comm&>(comm).neighbors, &present, found, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return *found;
    own_free(found);
    return *present;
}

} // namespace hdtrace::mpi
