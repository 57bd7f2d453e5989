/* Asks MPI whether it is there, and does without. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int initialized, finalized, version, subversion;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    printf("%d %d\n", initialized, finalized);
    return 0;
}
