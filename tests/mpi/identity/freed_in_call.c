/* A thread waits for a message on a communicator that another thread frees meanwhile: the message comes all
 * the same (MPI 4.1, 7.4.3). Its ranks are not those of MPI_COMM_WORLD. */
#include "../programs/check.h"

#include <pthread.h>
#include <unistd.h>

enum { OTHERS = 50 };

static MPI_Comm reversed;

static void* receive(void* communicator)
{
    const MPI_Comm comm = *(MPI_Comm*)communicator;
    int sender = -1;
    MPI_Recv(&sender, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    CHECK(sender == size - 1);
    return NULL;
}

static void make_others(void)
{
    MPI_Comm others[OTHERS];
    for (int i = 0; i < OTHERS; ++i)
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &others[i]);
    for (int i = 0; i < OTHERS; ++i)
        MPI_Comm_free(&others[i]);
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    find_place();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm kept = reversed;
    pthread_t thread;
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, &kept);
        usleep(200 * 1000);
        MPI_Comm_free(&reversed);
        make_others();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        MPI_Send(&rank, 1, MPI_INT, size - 1, 0, reversed);
    if (rank == 0)
        pthread_join(thread, NULL);
    else
        MPI_Comm_free(&reversed);
    return finish();
}
