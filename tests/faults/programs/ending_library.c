/* A library of a program whose destructor ends MPI, as objects of C++ libraries do, if the program asks for
 * it. */
#include <mpi.h>

int ends_mpi_at_exit;

__attribute__((destructor)) static void end_mpi(void)
{
    if (!ends_mpi_at_exit)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
