/* Only one phase of the program is to be seen in the trace: MPI_Pcontrol switches the tracer. */
#include <mpi.h>
#include <stdio.h>

static void phase(int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Pcontrol(0);
    phase(1000); /* warming up is not interesting */
    MPI_Pcontrol(1);
    phase(10);
    if (rank == 0) {
        printf("Ten barriers are in the trace.\n");
    }
    MPI_Finalize();
    return 0;
}
