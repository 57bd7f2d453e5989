/* Each blocking send mode once around a ring, into a receive that is posted before. */
#include "check.h"

typedef int SendFunction(const void*, int, MPI_Datatype, int, int, MPI_Comm);

int main(int argc, char** argv)
{
    static SendFunction* const sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    static char buffer[1024 + MPI_BSEND_OVERHEAD];
    void* detached;
    int detached_size;

    begin(&argc, &argv);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < LENGTH(sends); ++mode) {
        const int sent[] = {rank, rank, rank, rank}, tag = 10 + mode;
        int received[] = {-1, -1, -1, -1}, count;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(received, 4, MPI_INT, left, tag, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD); /* MPI_Rsend demands that the receive is there */
        sends[mode](sent, mode + 1, MPI_INT, right, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == mode + 1 && received[mode] == left);
    }
    MPI_Buffer_detach(&detached, &detached_size);
    CHECK(detached == buffer && detached_size == (int)sizeof buffer);
    return finish();
}
