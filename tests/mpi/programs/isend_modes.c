/* Each non-blocking send mode, then many eager sends at once, whose handles may all be equal. */
#include "check.h"

typedef int IsendFunction(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

enum { MANY = 6 };

static void each_mode_once(void)
{
    static IsendFunction* const isends[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    static char buffer[1024 + MPI_BSEND_OVERHEAD];
    void* detached;
    int detached_size;

    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < LENGTH(isends); ++mode) {
        const short sent[] = {7, 7, 7, 7};
        short received[] = {-1, -1, -1, -1};
        MPI_Request receive, send;
        MPI_Irecv(received, 4, MPI_SHORT, left, 10 + mode, MPI_COMM_WORLD, &receive);
        MPI_Barrier(MPI_COMM_WORLD); /* MPI_Irsend demands that the receive is there */
        isends[mode](sent, mode + 1, MPI_SHORT, right, 10 + mode, MPI_COMM_WORLD, &send);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(received[mode] == 7 && send == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&detached, &detached_size);
}

static void many_at_once(void)
{
    int sent[MANY], received[MANY];
    MPI_Request sends[MANY], receives[MANY];
    for (int i = 0; i < MANY; ++i) {
        sent[i] = 100 * rank + i;
        MPI_Irecv(&received[i], 1, MPI_INT, left, 30 + i, MPI_COMM_WORLD, &receives[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; ++i) {
        MPI_Isend(&sent[i], 1, MPI_INT, right, 30 + i, MPI_COMM_WORLD, &sends[i]);
    }
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
    MPI_Waitall(MANY - 1, sends + 1, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; ++i) {
        CHECK(received[i] == 100 * left + i);
    }
}

static void to_and_from_nobody(void)
{
    int value = 1;
    MPI_Request requests[2];
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 50, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    each_mode_once();
    many_at_once();
    to_and_from_nobody();
    return finish();
}
