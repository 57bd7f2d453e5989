/* batch_step [wait]: a barrier, and then for ever in a receive if it is told to; says "waiting" before that.
 */
#include "check.h"

int main(int argc, char** argv)
{
    int value;
    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    if (argc > 1) {
        puts("waiting");
        fflush(stdout);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
