/* Eight threads that start operations which their neighbours complete, and make communicators, datatypes and
   files of their own.

   Every message has a tag and every datatype a length of its own, so the trace alone must tell which is
   which. The threads call MPI for the first time in the order of their numbers: thread i has trace i + 1. */
#include "../programs/check.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 8, ROUNDS = 10 };

static MPI_Comm comms[THREADS];
static MPI_Request handed_over[THREADS];
static int received[THREADS];
static pthread_barrier_t together;

static void* work(void* argument)
{
    const int me = (int)(intptr_t)argument;
    for (int turn = 0; turn < THREADS; ++turn) {
        int is_main;
        if (turn == me) {
            MPI_Is_thread_main(&is_main);
        }
        pthread_barrier_wait(&together);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        const int number = me * ROUNDS + round;
        MPI_Irecv(&received[me], 1, MPI_INT, left, number, comms[me], &handed_over[me]);
        pthread_barrier_wait(&together);
        MPI_Request sent;
        MPI_Isend(&number, 1, MPI_INT, right, number, comms[me], &sent);
        MPI_Wait(&handed_over[(me + 1) % THREADS], MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&together);
        CHECK(received[me] == number);

        MPI_Datatype type;
        MPI_Comm copy;
        MPI_Type_contiguous(number + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Comm_dup(comms[me], &copy);
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, number, copy);
        int out[THREADS * ROUNDS + 1] = {0}, in[THREADS * ROUNDS + 1];
        MPI_Sendrecv(out, 1, type, 0, number, in, 1, type, 0, number, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        MPI_Comm_free(&copy);

        MPI_File file;
        char name[32];
        snprintf(name, sizeof name, "threads-%d-%d.data", rank, me);
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
        MPI_File_write_at(file, 0, out, number + 1, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
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
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    return finish();
}
