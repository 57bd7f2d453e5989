/* MPI 4: persistent collectives, started twice and waited for each time. Open MPI 4.1 has them as an
 * extension. */
#include "check.h"

#if HAVE_MPI_Barrier_init
#define INIT(name) MPI_##name##_init
#else
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#endif

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
    INIT(Barrier)(world, none, next_request());
    INIT(Bcast)(results[0], 1, MPI_INT, 0, world, none, next_request());
    INIT(Gather)(mine, 1, MPI_INT, results[1], 1, MPI_INT, 0, world, none, next_request());
    INIT(Gatherv)(mine, 1, MPI_INT, results[2], counts, places, MPI_INT, 0, world, none, next_request());
    INIT(Scatterv)(mine, counts, places, MPI_INT, results[4], 1, MPI_INT, 0, world, none, next_request());
    INIT(Allgather)(mine, 1, MPI_INT, results[5], 1, MPI_INT, world, none, next_request());
    INIT(Allgatherv)(mine, 1, MPI_INT, results[6], counts, places, MPI_INT, world, none, next_request());
    INIT(Alltoall)(mine, 1, MPI_INT, results[7], 1, MPI_INT, world, none, next_request());
    INIT(Alltoallv)
    (mine, counts, places, MPI_INT, results[8], counts, places, MPI_INT, world, none, next_request());
    INIT(Alltoallw)
    (mine, counts, bytes, types, results[9], counts, bytes, types, world, none, next_request());
    INIT(Reduce)(mine, results[10], 1, MPI_INT, MPI_SUM, 0, world, none, next_request());
    INIT(Allreduce)(mine, results[11], 1, MPI_INT, MPI_SUM, world, none, next_request());
    INIT(Reduce_scatter)(mine, results[12], counts, MPI_INT, MPI_SUM, world, none, next_request());
    INIT(Reduce_scatter_block)(mine, results[13], 1, MPI_INT, MPI_SUM, world, none, next_request());
    INIT(Scan)(mine, results[14], 1, MPI_INT, MPI_SUM, world, none, next_request());
    INIT(Exscan)(mine, results[15], 1, MPI_INT, MPI_SUM, world, none, next_request());
    run_all(2);
    CHECK(results[11][0] == size * (size - 1) / 2 && results[5][left] == left);

    INIT(Neighbor_allgather)(mine, 1, MPI_INT, results[16], 1, MPI_INT, line, none, next_request());
    INIT(Neighbor_allgatherv)
    (mine, 1, MPI_INT, results[17], counts, places, MPI_INT, line, none, next_request());
    INIT(Neighbor_alltoall)(mine, 1, MPI_INT, results[18], 1, MPI_INT, line, none, next_request());
    INIT(Neighbor_alltoallv)
    (mine, counts, places, MPI_INT, results[19], counts, places, MPI_INT, line, none, next_request());
    INIT(Neighbor_alltoallw)
    (mine, counts, addresses, types, results[20], counts, addresses, types, line, none, next_request());
    run_all(2);
    CHECK(results[16][0] == left && results[20][1] == right);

    INIT(Scatter)(mine, 1, MPI_INT, results[3], 1, MPI_INT, 0, world, none, next_request());
    run_all(1); /* MPICH 4.0 cannot start a scatter twice */
    CHECK(results[3][0] == 0);
    MPI_Comm_free(&line);
    return finish();
}
