/* Operations that are completed by a callback, while other operations are being completed. */
#include "edge_cases.h"

enum { MANY = 500 };

static void exchange_with_myself(void)
{
    static int out[MANY], in[MANY];
    MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
    }
    SAY(MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE));
}

static int query(void* state, MPI_Status* status)
{
    (void)state;
    exchange_with_myself();
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}

static int release(void* state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void* state, int complete)
{
    (void)state;
    return complete;
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    for (int i = 0; i < 3; ++i) {
        int value = -1;
        MPI_Request requests[2];
        MPI_Grequest_start(query, release, cancel, NULL, &requests[0]);
        MPI_Grequest_complete(requests[0]);
        MPI_Irecv(&value, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
        SAY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        say("received %d", value);
    }
    return finish();
}
