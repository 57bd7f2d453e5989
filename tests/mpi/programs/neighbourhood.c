/* Every neighbourhood collective on a periodic line, blocking and not; with an argument on an open line. */
#include "check.h"

enum { NEIGHBOURS = 2 };

static MPI_Comm line;
static int periodic = 1;
static int mine[NEIGHBOURS], theirs[NEIGHBOURS];
static const int counts[NEIGHBOURS] = {1, 1}, places[NEIGHBOURS] = {0, 1};
static const MPI_Aint bytes[NEIGHBOURS] = {0, sizeof(int)};
static MPI_Datatype types[NEIGHBOURS];

static void check_and_forget(void)
{
    CHECK(theirs[0] == (periodic || rank > 0 ? left : -1));
    CHECK(theirs[1] == (periodic || rank < size - 1 ? right : -1));
    theirs[0] = theirs[1] = -1;
}

static void wait_and_check(MPI_Request* request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check_and_forget();
}

int main(int argc, char** argv)
{
    MPI_Request request;

    begin(&argc, &argv);
    periodic = argc == 1;
    theirs[0] = theirs[1] = -1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    for (int i = 0; i < NEIGHBOURS; ++i) {
        mine[i] = rank;
        types[i] = MPI_INT;
    }

    MPI_Neighbor_allgather(mine, 1, MPI_INT, theirs, 1, MPI_INT, line);
    check_and_forget();
    MPI_Neighbor_allgatherv(mine, 1, MPI_INT, theirs, counts, places, MPI_INT, line);
    check_and_forget();
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, line);
    check_and_forget();
    MPI_Neighbor_alltoallv(mine, counts, places, MPI_INT, theirs, counts, places, MPI_INT, line);
    check_and_forget();
    MPI_Neighbor_alltoallw(mine, counts, bytes, types, theirs, counts, bytes, types, line);
    check_and_forget();

    MPI_Ineighbor_allgather(mine, 1, MPI_INT, theirs, 1, MPI_INT, line, &request);
    wait_and_check(&request);
    MPI_Ineighbor_allgatherv(mine, 1, MPI_INT, theirs, counts, places, MPI_INT, line, &request);
    wait_and_check(&request);
    MPI_Ineighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, line, &request);
    wait_and_check(&request);
    MPI_Ineighbor_alltoallv(mine, counts, places, MPI_INT, theirs, counts, places, MPI_INT, line, &request);
    wait_and_check(&request);
    MPI_Ineighbor_alltoallw(mine, counts, bytes, types, theirs, counts, bytes, types, line, &request);
    wait_and_check(&request);

    MPI_Comm_free(&line);
    return finish();
}
