/* Waits for ever in the way that its argument names; with a second one, another thread waits as well. Says
 * "waiting" when it begins to. */
#include "prelude.h"

#include <pthread.h>

static int numbers[4];
static MPI_Comm comm;

static void receive(void)
{
    MPI_Recv(numbers, 3, MPI_INT, MPI_ANY_SOURCE, 99, comm, MPI_STATUS_IGNORE);
}

static void wait_for_all(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(&numbers[0], 1, MPI_INT, 0, 1, comm, &requests[0]);
    MPI_Irecv(&numbers[1], 1, MPI_INT, 0, 2, comm, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void probe(void)
{
    MPI_Probe(0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

static void receive_inside(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)in, (void)out, (void)count, (void)type;
    receive();
}

static void nested(void)
{
    be_in_a_call(receive_inside);
}

static const struct way ways[] = {
    {"receive", receive}, {"waitall", wait_for_all}, {"probe", probe}, {"nested", nested}};

static void* send_in_thread(void* unused)
{
    MPI_Ssend(numbers, 2, MPI_INT, 0, 7, comm);
    return unused;
}

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    pthread_t thread;
    if (argc > 2)
        CHECK(pthread_create(&thread, NULL, send_in_thread, NULL) == 0);
    puts("waiting");
    fflush(stdout);
    GO(ways, argv[1]);
    return 1;
}
