/* The program switches its own tracing off and on. Each broadcast's count tells when it was called. */
#include "check.h"

static void broadcast(int count)
{
    int values[8] = {0};
    MPI_Bcast(values, count, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    MPI_Request request;
    int value;

    begin(&argc, &argv);
    broadcast(1);
    MPI_Irecv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    MPI_Pcontrol(0);
    broadcast(2);
    MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    broadcast(3);
    MPI_Pcontrol(2); /* flushes, no more */
    broadcast(4);
    MPI_Pcontrol(0);
    MPI_Pcontrol(2);
    broadcast(5);
    return finish();
}
