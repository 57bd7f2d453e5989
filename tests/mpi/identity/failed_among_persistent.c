/* A call that completes one of several requests fails with it: a message is too long for its receive. The
 * others, which are persistent, have got theirs meanwhile, and a later call completes them. */
#include "../programs/check.h"

enum { TOO_LONG, FIRST, SECOND, COUNT };

static void send_all(int from)
{
    for (int i = from; i < COUNT; ++i) {
        MPI_Send((int[]){1, 2}, i == TOO_LONG ? 2 : 1, MPI_INT, right, i, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int complete_one(int waits, MPI_Request* requests, int* index)
{
    int rc = MPI_SUCCESS, flag = 0;
    if (waits) {
        return MPI_Waitany(COUNT, requests, index, MPI_STATUS_IGNORE);
    }
    while (rc == MPI_SUCCESS && !flag) {
        rc = MPI_Testany(COUNT, requests, index, &flag, MPI_STATUS_IGNORE);
    }
    return rc;
}

static void fail(int waits)
{
    MPI_Request requests[COUNT];
    int numbers[COUNT], index = -1;
    MPI_Irecv(&numbers[TOO_LONG], 1, MPI_INT, left, TOO_LONG, MPI_COMM_WORLD, &requests[TOO_LONG]);
    for (int i = FIRST; i < COUNT; ++i) {
        MPI_Recv_init(&numbers[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Startall(2, &requests[FIRST]);
    send_all(TOO_LONG);
    CHECK(complete_one(waits, requests, &index) != MPI_SUCCESS && index == TOO_LONG);
    MPI_Waitall(2, &requests[FIRST], MPI_STATUSES_IGNORE);
    MPI_Startall(2, &requests[FIRST]);
    send_all(FIRST);
    MPI_Waitall(2, &requests[FIRST], MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[FIRST]);
    MPI_Request_free(&requests[SECOND]);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int waits = 0; size > 1 && waits < 2; ++waits) {
        fail(waits);
    }
    return finish();
}
