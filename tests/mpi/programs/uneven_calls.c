/* The first process calls much more often than the others: uneven_calls [ROUNDS]
 *
 * How much is sent tells which calls belong together. */
#include "check.h"

enum { SIZES = 97 };

int main(int argc, char** argv)
{
    int data[SIZES] = {0};
    begin(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < rounds; ++i) {
        const int count = 1 + i % SIZES;
        for (int k = 0; rank == 0 && k < 20; ++k) {
            MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        }
        for (int to = 1; rank == 0 && to < size; ++to) {
            MPI_Send(data, count, MPI_INT, to, 2, MPI_COMM_WORLD);
        }
        if (rank > 0) {
            MPI_Recv(data, SIZES, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        MPI_Bcast(data, count, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return finish();
}
