/* A program that calls MPI by its profiling names. */
#include "check.h"

int main(int argc, char** argv)
{
    int value = 0;
    PMPI_Init(&argc, &argv);
    find_place();
    PMPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &value, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
    CHECK(value == left);
    PMPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
