/* A large persistent buffered send, which Open MPI gives another handle each time that it is started again;
 * started alone and together with others.
 */
#include "../programs/check.h"

enum { BYTES = 4 << 20, ROUNDS = 3 };

int main(int argc, char** argv)
{
    static char sent[BYTES], received[2][BYTES];
    const int buffer_size = 4 * ROUNDS * (BYTES + MPI_BSEND_OVERHEAD);
    MPI_Request sends[2], receives[2];
    int detached_size;
    void* buffer;

    begin(&argc, &argv);
    buffer = malloc(buffer_size);
    MPI_Buffer_attach(buffer, buffer_size);
    for (int i = 0; i < 2; ++i) {
        MPI_Recv_init(received[i], BYTES, MPI_BYTE, left, i, MPI_COMM_WORLD, &receives[i]);
        MPI_Bsend_init(sent, BYTES, MPI_BYTE, right, i, MPI_COMM_WORLD, &sends[i]);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Start(&sends[0]);
        MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
        MPI_Startall(2, receives);
        MPI_Start(&sends[1]);
        MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
        MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Startall(2, sends);
        MPI_Startall(2, receives);
        MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Buffer_detach(&buffer, &detached_size);
    free(buffer);
    return finish();
}
