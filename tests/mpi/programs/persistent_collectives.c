/* MPI 4: persistent collectives, started twice and waited for each time. */
#include "check.h"

static MPI_Request requests[32];
static int used;

static MPI_Request* next_request(void)
{
    CHECK(used < LENGTH(requests));
    return &requests[used++];
}

static void run_all(int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        MPI_Startall(used, requests);
        MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < used; ++i) {
        MPI_Request_free(&requests[i]);
    }
    used = 0;
}

int main(int argc, char** argv)
{
    int counts[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS], mine[MOST_RANKS];
    int results[21][MOST_RANKS];
    const MPI_Aint addresses[] = {0, sizeof(int)};
    const int periodic = 1;
    MPI_Datatype types[MOST_RANKS];
    MPI_Comm line;
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Info none = MPI_INFO_NULL;

    begin(&argc, &argv);
    MPI_Cart_create(world, 1, &size, &periodic, 0, &line);
    for (int i = 0; i < MOST_RANKS; ++i) {
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        mine[i] = rank;
        types[i] = MPI_INT;
    }
    MPI_Barrier_init(world, none, next_request());
    MPI_Bcast_init(results[0], 1, MPI_INT, 0, world, none, next_request());
    MPI_Gather_init(mine, 1, MPI_INT, results[1], 1, MPI_INT, 0, world, none, next_request());
    MPI_Gatherv_init(mine, 1, MPI_INT, results[2], counts, places, MPI_INT, 0, world, none, next_request());
    MPI_Scatterv_init(mine, counts, places, MPI_INT, results[4], 1, MPI_INT, 0, world, none, next_request());
    MPI_Allgather_init(mine, 1, MPI_INT, results[5], 1, MPI_INT, world, none, next_request());
    MPI_Allgatherv_init(mine, 1, MPI_INT, results[6], counts, places, MPI_INT, world, none, next_request());
    MPI_Alltoall_init(mine, 1, MPI_INT, results[7], 1, MPI_INT, world, none, next_request());
    MPI_Alltoallv_init(mine, counts, places, MPI_INT, results[8], counts, places, MPI_INT, world, none,
                       next_request());
    MPI_Alltoallw_init(mine, counts, bytes, types, results[9], counts, bytes, types, world, none,
                       next_request());
    MPI_Reduce_init(mine, results[10], 1, MPI_INT, MPI_SUM, 0, world, none, next_request());
    MPI_Allreduce_init(mine, results[11], 1, MPI_INT, MPI_SUM, world, none, next_request());
    MPI_Reduce_scatter_init(mine, results[12], counts, MPI_INT, MPI_SUM, world, none, next_request());
    MPI_Reduce_scatter_block_init(mine, results[13], 1, MPI_INT, MPI_SUM, world, none, next_request());
    MPI_Scan_init(mine, results[14], 1, MPI_INT, MPI_SUM, world, none, next_request());
    MPI_Exscan_init(mine, results[15], 1, MPI_INT, MPI_SUM, world, none, next_request());
    run_all(2);
    CHECK(results[11][0] == size * (size - 1) / 2 && results[5][left] == left);

    MPI_Neighbor_allgather_init(mine, 1, MPI_INT, results[16], 1, MPI_INT, line, none, next_request());
    MPI_Neighbor_allgatherv_init(mine, 1, MPI_INT, results[17], counts, places, MPI_INT, line, none,
                                 next_request());
    MPI_Neighbor_alltoall_init(mine, 1, MPI_INT, results[18], 1, MPI_INT, line, none, next_request());
    MPI_Neighbor_alltoallv_init(mine, counts, places, MPI_INT, results[19], counts, places, MPI_INT, line,
                                none, next_request());
    MPI_Neighbor_alltoallw_init(mine, counts, addresses, types, results[20], counts, addresses, types, line,
                                none, next_request());
    run_all(2);
    CHECK(results[16][0] == left && results[20][1] == right);

    MPI_Scatter_init(mine, 1, MPI_INT, results[3], 1, MPI_INT, 0, world, none, next_request());
    run_all(1); /* MPICH 4.0 cannot start a scatter twice */
    CHECK(results[3][0] == 0);
    MPI_Comm_free(&line);
    return finish();
}
