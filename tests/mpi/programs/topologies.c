/* Cartesian, graph and distributed graph topologies, and everything that asks about them. */
#include "check.h"

static void cartesian(void)
{
    MPI_Comm grid, row;
    int dims[2] = {0, 1}, periods[2] = {1, 0}, coordinates[2], ndims, found, source, destination, kind,
        mapped;
    const int keep[2] = {1, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cartdim_get(grid, &ndims);
    MPI_Cart_get(grid, 2, dims, periods, coordinates);
    MPI_Cart_coords(grid, rank, 2, coordinates);
    MPI_Cart_rank(grid, coordinates, &found);
    CHECK(ndims == 2 && found == rank);
    MPI_Cart_shift(grid, 0, 1, &source, &destination);
    CHECK(source == left && destination == right);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Barrier(row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static void graph(void)
{
    MPI_Comm ring;
    int index[MOST_RANKS], edges[MOST_RANKS], nodes, edge_count, neighbours, neighbour, mapped;
    for (int i = 0; i < size; ++i) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mapped);
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
    MPI_Graphdims_get(ring, &nodes, &edge_count);
    CHECK(nodes == size && edge_count == size);
    MPI_Graph_get(ring, LENGTH(index), LENGTH(edges), index, edges); /* more room than needed */
    MPI_Graph_neighbors_count(ring, rank, &neighbours);
    MPI_Graph_neighbors(ring, rank, 1, &neighbour);
    CHECK(neighbours == 1 && neighbour == right);
    MPI_Barrier(ring);
    MPI_Comm_free(&ring);
}

/* The vector and the irregular neighbourhoods show which neighbours a trace names. */
static void distributed_graph(void)
{
    MPI_Comm adjacent, general;
    int in, out, weighted, sources[1], destinations[1], value = -1;
    const int one = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &adjacent);
    MPI_Dist_graph_neighbors_count(adjacent, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(adjacent, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
    CHECK(in == 1 && out == 1 && !weighted && sources[0] == left && destinations[0] == right);
    MPI_Neighbor_alltoallv(&rank, &one, &(int){0}, MPI_INT, &value, &one, &(int){0}, MPI_INT, adjacent);
    CHECK(value == left);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &right, &(int){5}, MPI_INFO_NULL, 0, &general);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &value, 1, MPI_INT, general);
    CHECK(value == left);
    MPI_Comm_free(&general);
    MPI_Comm_free(&adjacent);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    cartesian();
    graph();
    distributed_graph();
    return finish();
}
