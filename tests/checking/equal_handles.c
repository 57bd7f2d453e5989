// Sends that are complete when they are started have one handle with some MPI libraries, and the program
// moves it: nothing tells which of them it waits for first. Their memory is used as soon as that is
// permitted.
#include <mpi.h>

int main(int argc, char** argv)
{
    int first = 1, second = 2, got[2], third = 3;
    MPI_Request of_first, of_second, moved, received;
    MPI_Init(&argc, &argv);
    MPI_Isend(&first, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &of_first);
    MPI_Isend(&second, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &of_second);
    MPI_Recv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(&got[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    moved = of_second;
    of_second = MPI_REQUEST_NULL;
    MPI_Wait(&moved, MPI_STATUS_IGNORE);
    ++second;
    MPI_Irecv(&second, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &received);
    MPI_Send(&third, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    moved = of_first;
    MPI_Wait(&moved, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
