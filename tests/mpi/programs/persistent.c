/* Persistent requests: each send mode, started alone and together, twice; waited for while inactive; freed.
 */
#include "check.h"

typedef int InitFunction(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

enum { MODES = 4, ROUNDS = 2 };

int main(int argc, char** argv)
{
    static InitFunction* const inits[MODES] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    static char buffer[1024 + MPI_BSEND_OVERHEAD];
    int sent[MODES], received[MODES], detached_size;
    MPI_Request sends[MODES], receives[MODES];
    void* detached;

    begin(&argc, &argv);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < MODES; ++mode) {
        MPI_Recv_init(&received[mode], 1, MPI_INT, left, 10 + mode, MPI_COMM_WORLD, &receives[mode]);
        inits[mode](&sent[mode], 1, MPI_INT, right, 10 + mode, MPI_COMM_WORLD, &sends[mode]);
    }
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE); /* inactive: nothing to complete */

    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Startall(MODES, receives);
        MPI_Barrier(MPI_COMM_WORLD); /* MPI_Rsend_init demands that the receive is there */
        for (int mode = 0; mode < MODES; ++mode) {
            sent[mode] = 100 * rank + 10 * round + mode;
            MPI_Start(&sends[mode]);
        }
        for (int mode = 0; mode < MODES; ++mode) {
            MPI_Wait(&receives[mode], MPI_STATUS_IGNORE);
            CHECK(received[mode] == 100 * left + 10 * round + mode);
        }
        MPI_Waitall(MODES, sends, MPI_STATUSES_IGNORE);
        CHECK(sends[0] != MPI_REQUEST_NULL);
    }

    for (int mode = 0; mode < MODES; ++mode) {
        MPI_Request_free(&sends[mode]);
        MPI_Request_free(&receives[mode]);
    }
    MPI_Buffer_detach(&detached, &detached_size);
    return finish();
}
