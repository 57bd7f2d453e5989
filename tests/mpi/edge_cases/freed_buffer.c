/* Wrong: process 1 frees the buffer of a receive before it has the message, which so gets into memory that
   whoever asks for memory next may have. The program does not notice. */
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 27 };

int main(int argc, char** argv)
{
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* volatile buffer = calloc(COUNT, sizeof *buffer);
    if (rank == 0) {
        MPI_Send(buffer, COUNT, MPI_INT, 1, 3, MPI_COMM_WORLD);
        free(buffer);
    } else if (rank == 1) {
        MPI_Irecv(buffer, COUNT, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        free(buffer);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
