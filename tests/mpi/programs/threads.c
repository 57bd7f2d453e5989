/* Threads that call MPI at the same time: the main one and three more, each in a ring on a communicator of
 * its own. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 25 };

static MPI_Comm comms[THREADS];

static void* work(void* communicator)
{
    const MPI_Comm comm = *(MPI_Comm*)communicator;
    const int number = (int)((MPI_Comm*)communicator - comms);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Request request;
        int received = -1;
        MPI_Isend(&round, 1, MPI_INT, right, number, comm, &request);
        MPI_Recv(&received, 1, MPI_INT, left, number, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(received == round);
    }
    return NULL;
}

int main(int argc, char** argv)
{
    pthread_t threads[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    find_place();
    for (int i = 0; i < THREADS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 1; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, work, &comms[i]);
    }
    work(&comms[0]);
    for (int i = 1; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < THREADS; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    return finish();
}
