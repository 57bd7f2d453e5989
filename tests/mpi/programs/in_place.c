/* MPI_IN_PLACE everywhere: the arguments behind it are not significant, so they are nonsense here. */
#include "check.h"

int main(int argc, char** argv)
{
    enum { NONSENSE = -7 };
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    int values[MOST_RANKS], ones[MOST_RANKS], places[MOST_RANKS], zeros[MOST_RANKS] = {0};
    MPI_Datatype types[MOST_RANKS];

    begin(&argc, &argv);
    for (int i = 0; i < MOST_RANKS; ++i) {
        values[i] = rank;
        ones[i] = 1;
        places[i] = i;
        types[i] = MPI_INT;
    }
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, NONSENSE, none, values, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Gatherv(MPI_IN_PLACE, NONSENSE, none, values, ones, places, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatter(values, 1, MPI_INT, MPI_IN_PLACE, NONSENSE, none, 0, MPI_COMM_WORLD);
        MPI_Scatterv(values, ones, places, MPI_INT, MPI_IN_PLACE, NONSENSE, none, 0, MPI_COMM_WORLD);
        MPI_Reduce(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        CHECK(values[0] == size * (size - 1) / 2);
    } else {
        MPI_Gather(values, 1, MPI_INT, NULL, NONSENSE, none, 0, MPI_COMM_WORLD);
        MPI_Gatherv(values, 1, MPI_INT, NULL, NULL, NULL, none, 0, MPI_COMM_WORLD);
        MPI_Scatter(NULL, NONSENSE, none, values, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatterv(NULL, NULL, NULL, none, values, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Reduce(values, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    values[rank] = rank;
    MPI_Allgather(MPI_IN_PLACE, NONSENSE, none, values, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(values[right] == right);
    MPI_Allgatherv(MPI_IN_PLACE, NONSENSE, none, values, ones, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, NONSENSE, none, values, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(values[right] == rank);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, none, values, ones, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < MOST_RANKS; ++i) {
        places[i] = i * (int)sizeof(int);
    }
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, values, ones, places, types, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, zeros, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(zeros[0] == 0);
    MPI_Reduce_scatter(MPI_IN_PLACE, zeros, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, zeros, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(MPI_IN_PLACE, zeros, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(MPI_IN_PLACE, zeros, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return finish();
}
