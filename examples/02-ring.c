/* A token goes once around a ring; each process adds its rank. Its trace has one Send and one Recv per
 * process. */
#include <mpi.h>
#include <stdio.h>

enum { TOKEN = 1 };

int main(int argc, char** argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1) {
        printf("A ring needs two processes or more.\n");
    } else if (rank == 0) {
        MPI_Send(&sum, 1, MPI_INT, 1, TOKEN, MPI_COMM_WORLD);
        MPI_Recv(&sum, 1, MPI_INT, size - 1, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("The sum of all ranks is %d\n", sum);
    } else {
        MPI_Recv(&sum, 1, MPI_INT, rank - 1, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += rank;
        MPI_Send(&sum, 1, MPI_INT, (rank + 1) % size, TOKEN, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
