/* Many short calls: many_calls [SIGNAL [ROUNDS]]
 *
 * A few rounds, or as many as are wanted, then the signal, if there is one. */
#include "check.h"

#include <signal.h>

int main(int argc, char** argv)
{
    int sent = 1, received, flag;
    begin(&argc, &argv);
    const int signal_number = argc > 1 ? atoi(argv[1]) : 0;
    const int rounds = argc > 2 ? atoi(argv[2]) : 10;
    for (int i = 0; i < rounds; ++i) {
        MPI_Request request;
        MPI_Sendrecv(&sent, 1, MPI_INT, rank, 7, &received, 1, MPI_INT, rank, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Irecv(&received, 1, MPI_INT, rank, i % 100, MPI_COMM_WORLD, &request);
        MPI_Send(&sent, 1, MPI_INT, rank, i % 100, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    if (signal_number != 0) {
        raise(signal_number);
    }
    return finish();
}
