/* Every non-blocking collective. One request is completed alone, the others together. */
#include "check.h"

static MPI_Request requests[24];
static int used;

static MPI_Request* next_request(void)
{
    CHECK(used < LENGTH(requests));
    return &requests[used++];
}

int main(int argc, char** argv)
{
    int counts[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS], mine[MOST_RANKS];
    int results[16][MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
    MPI_Request barrier;
    const MPI_Comm world = MPI_COMM_WORLD;

    begin(&argc, &argv);
    for (int i = 0; i < MOST_RANKS; ++i) {
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        mine[i] = rank;
        types[i] = MPI_INT;
    }
    MPI_Ibarrier(world, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);

    results[0][0] = rank == 0 ? 42 : 0;
    MPI_Ibcast(results[0], 1, MPI_INT, 0, world, next_request());
    MPI_Igather(mine, 1, MPI_INT, results[1], 1, MPI_INT, 0, world, next_request());
    MPI_Igatherv(mine, 1, MPI_INT, results[2], counts, places, MPI_INT, 0, world, next_request());
    MPI_Iscatter(mine, 1, MPI_INT, results[3], 1, MPI_INT, 0, world, next_request());
    MPI_Iscatterv(mine, counts, places, MPI_INT, results[4], 1, MPI_INT, 0, world, next_request());
    MPI_Iallgather(mine, 1, MPI_INT, results[5], 1, MPI_INT, world, next_request());
    MPI_Iallgatherv(mine, 1, MPI_INT, results[6], counts, places, MPI_INT, world, next_request());
    MPI_Ialltoall(mine, 1, MPI_INT, results[7], 1, MPI_INT, world, next_request());
    MPI_Ialltoallv(mine, counts, places, MPI_INT, results[8], counts, places, MPI_INT, world, next_request());
    MPI_Ialltoallw(mine, counts, bytes, types, results[9], counts, bytes, types, world, next_request());
    MPI_Ireduce(mine, results[10], 1, MPI_INT, MPI_SUM, 0, world, next_request());
    MPI_Iallreduce(mine, results[11], 1, MPI_INT, MPI_SUM, world, next_request());
    MPI_Ireduce_scatter(mine, results[12], counts, MPI_INT, MPI_SUM, world, next_request());
    MPI_Ireduce_scatter_block(mine, results[13], 1, MPI_INT, MPI_SUM, world, next_request());
    MPI_Iscan(mine, results[14], 1, MPI_INT, MPI_SUM, world, next_request());
    MPI_Iexscan(mine, results[15], 1, MPI_INT, MPI_SUM, world, next_request());
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);

    CHECK(results[0][0] == 42);
    CHECK(rank != 0 || (results[1][right] == right && results[2][right] == right));
    CHECK(results[3][0] == 0 && results[4][0] == 0);
    CHECK(results[5][left] == left && results[6][left] == left);
    CHECK(results[7][left] == left && results[8][left] == left && results[9][left] == left);
    CHECK(results[11][0] == size * (size - 1) / 2);
    CHECK(results[12][0] == results[11][0] && results[13][0] == results[11][0]);
    CHECK(results[14][0] == rank * (rank + 1) / 2);
    return finish();
}
