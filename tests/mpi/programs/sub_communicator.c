/* Everything that names a rank, on a communicator whose ranks are those of the world in reverse order. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_Comm reversed;
    MPI_Request request;
    MPI_Status status;
    int local, next, before, value = 0, all[MOST_RANKS], ones[MOST_RANKS], places[MOST_RANKS];

    begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(reversed, &local);
    CHECK(local == size - 1 - rank);
    next = (local + 1) % size;
    before = (local + size - 1) % size;
    for (int i = 0; i < MOST_RANKS; ++i) {
        ones[i] = 1;
        places[i] = i;
    }

    MPI_Irecv(&value, 1, MPI_INT, before, 1, reversed, &request);
    MPI_Send(&local, 1, MPI_INT, next, 1, reversed);
    MPI_Wait(&request, &status);
    CHECK(value == before && status.MPI_SOURCE == before);
    MPI_Isend(&local, 1, MPI_INT, next, 2, reversed, &request);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, reversed, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&local, 1, MPI_INT, next, 3, &value, 1, MPI_INT, before, 3, reversed, &status);
    MPI_Bcast(&value, 1, MPI_INT, 0, reversed);
    MPI_Gather(&local, 1, MPI_INT, all, 1, MPI_INT, 0, reversed);
    MPI_Gatherv(&local, 1, MPI_INT, all, ones, places, MPI_INT, 0, reversed);
    MPI_Reduce(&local, &value, 1, MPI_INT, MPI_SUM, size - 1, reversed);
    CHECK(local != size - 1 || value == size * (size - 1) / 2);
    MPI_Comm_free(&reversed);
    return finish();
}
