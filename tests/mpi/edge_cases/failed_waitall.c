/* Which requests are still there when a wait for all of them fails, with statuses and without. */
#include "edge_cases.h"

enum { MOST = 150 };
typedef enum {
    PLAIN,
    WITH_NULL,
    WITH_COLLECTIVE,
    WITH_PERSISTENT,
    WITH_GENERALIZED,
    TWO_FAIL,
    MANY,
    MIXES
} Mix;

static int received[MOST + 1], sent[4];
static MPI_Request requests[2 * MOST + 2];
static MPI_Status statuses[2 * MOST + 2];
static int count;

static int query(void* state, MPI_Status* status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void* state)
{
    say("%s", (const char*)state);
    return MPI_SUCCESS;
}

static int cancel(void* state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* The first message is too long, with TWO_FAIL also the third. */
static void start(Mix mix)
{
    const int messages = mix == MANY ? MOST : 3;
    count = 0;
    for (int i = 0; i < messages; ++i) {
        MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[count++]);
    }
    for (int i = 0; i < messages; ++i) {
        const int is_long = i == 0 || (i == 2 && mix == TWO_FAIL);
        MPI_Isend(sent, is_long ? 4 : 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[count++]);
    }
    if (mix == WITH_NULL) {
        requests[count++] = MPI_REQUEST_NULL;
    } else if (mix == WITH_COLLECTIVE) {
        MPI_Ibarrier(MPI_COMM_SELF, &requests[count++]);
    } else if (mix == WITH_PERSISTENT) {
        MPI_Send_init(sent, 1, MPI_INT, 0, MOST, MPI_COMM_SELF, &requests[count++]);
        MPI_Recv_init(&received[MOST], 1, MPI_INT, 0, MOST, MPI_COMM_SELF, &requests[count++]);
        MPI_Startall(2, &requests[count - 2]);
    } else if (mix == WITH_GENERALIZED) {
        MPI_Grequest_start(query, release, cancel, "released", &requests[count++]);
        MPI_Grequest_complete(requests[count - 1]);
    }
}

static void wait_for_the_rest(void)
{
    for (int i = 0; i < count; ++i) {
        if (requests[i] != MPI_REQUEST_NULL) {
            say("%d is left", i);
            SAY(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
        if (requests[i] != MPI_REQUEST_NULL) {
            MPI_Request_free(&requests[i]);
        }
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    return_errors();
    for (Mix mix = PLAIN; mix < MIXES; ++mix) {
        for (int with_statuses = 0; with_statuses < 2; ++with_statuses) {
            say("mix %d with statuses %d", (int)mix, with_statuses);
            start(mix);
            SAY(MPI_Waitall(count, requests, with_statuses ? statuses : MPI_STATUSES_IGNORE));
            wait_for_the_rest();
        }
    }
    return finish();
}
