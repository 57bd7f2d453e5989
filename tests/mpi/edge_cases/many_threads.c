/* Eight threads that send, receive and make communicators and types at the same time; requests completed by
 * another thread. */
#include "edge_cases.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 60 };

static MPI_Comm comms[THREADS], shared;
static MPI_Datatype common_type;
static MPI_Request handed_over[THREADS];
static int received[THREADS], sums[THREADS];
static pthread_barrier_t together;

static void* work(void* argument)
{
    const int me = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Comm copy;
        MPI_Datatype type;
        int in[2] = {0}, out[2] = {rank, me}, sum = 0;
        if (round % 10 == 0) {
            if (me == 0) { /* all see the new ones for the first time at the same time */
                MPI_Pcontrol(0);
                MPI_Request request;
                MPI_Comm_idup(MPI_COMM_WORLD, &shared, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                MPI_Type_contiguous(2, MPI_INT, &common_type);
                MPI_Type_commit(&common_type);
                MPI_Pcontrol(1);
            }
            pthread_barrier_wait(&together);
        }
        MPI_Sendrecv(out, 1, common_type, right, me, in, 1, common_type, left, me, shared, MPI_STATUS_IGNORE);
        sums[me] += in[0] == left && in[1] == me;
        if (round % 10 == 9) {
            pthread_barrier_wait(&together);
            if (me == 0) {
                MPI_Type_free(&common_type);
                MPI_Comm_free(&shared);
            }
            pthread_barrier_wait(&together);
        }
        MPI_Comm_dup(comms[me], &copy);
        MPI_Allreduce(&out[1], &sum, 1, MPI_INT, MPI_SUM, copy);
        MPI_Comm_free(&copy);
        MPI_Type_vector(2, 1, me + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(NULL, 0, type, right, me, NULL, 0, type, left, me, comms[me], MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        sums[me] += sum == me * size;
    }
    MPI_Irecv(&received[me], 1, MPI_INT, left, 50, comms[me], &handed_over[me]);
    pthread_barrier_wait(&together);
    MPI_Send(&me, 1, MPI_INT, right, 50, comms[me]);
    MPI_Wait(&handed_over[(me + 1) % THREADS], MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char** argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    say("provided %d", provided == MPI_THREAD_MULTIPLE);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        say("thread %d: %d right, got %d", i, sums[i], received[i]);
        MPI_Comm_free(&comms[i]);
    }
    return finish();
}
