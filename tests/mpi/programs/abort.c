/* The last rank ends everything with a code of its own while the others wait. */
#include "check.h"

#include <unistd.h>

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        usleep(200000); /* now the others wait */
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return EXIT_SUCCESS;
}
