/* Messages and collectives between two groups, the even and the odd ranks, with MPI_ROOT and MPI_PROC_NULL.
 */
#include "check.h"

static MPI_Comm inter, half;
static int in_even, local, local_size, remote_size;

static int root_argument(void)
{
    if (in_even) {
        return local == 0 ? MPI_ROOT : MPI_PROC_NULL;
    }
    return 0;
}

int main(int argc, char** argv)
{
    int value = -1, theirs[MOST_RANKS], ones[MOST_RANKS], places[MOST_RANKS], mine[MOST_RANKS];

    begin(&argc, &argv);
    CHECK(size >= 2);
    in_even = rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, in_even ? 1 : 0, 77, &inter);
    MPI_Comm_rank(inter, &local);
    MPI_Comm_size(inter, &local_size);
    MPI_Comm_remote_size(inter, &remote_size);
    for (int i = 0; i < MOST_RANKS; ++i) {
        ones[i] = 1;
        places[i] = i;
        mine[i] = rank;
    }

    if (local == 0) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &value, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        CHECK(value == (in_even ? 1 : 0));
    }
    MPI_Barrier(inter);
    value = 5;
    MPI_Bcast(&value, 1, MPI_INT, root_argument(), inter);
    MPI_Gather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, root_argument(), inter);
    CHECK(root_argument() != MPI_ROOT || theirs[0] == 1);
    MPI_Gatherv(&rank, 1, MPI_INT, theirs, ones, places, MPI_INT, root_argument(), inter);
    MPI_Scatter(mine, 1, MPI_INT, &value, 1, MPI_INT, root_argument(), inter);
    MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, root_argument(), inter);
    MPI_Allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, inter);
    CHECK(theirs[remote_size - 1] % 2 == (in_even ? 1 : 0));
    MPI_Alltoallv(mine, ones, places, MPI_INT, theirs, ones, places, MPI_INT, inter);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return finish();
}
