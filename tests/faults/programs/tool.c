/* Another tool that intercepts MPI: preloaded, or a part of the program. */
#include <mpi.h>
#include <stdio.h>

static int calls = 0;

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    ++calls;
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

int MPI_Finalize(void)
{
    printf("the tool saw %d\n", calls);
    fflush(stdout);
    return PMPI_Finalize();
}
