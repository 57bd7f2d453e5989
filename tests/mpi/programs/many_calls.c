/* Many short calls, as many rounds as the second argument says, then the signal that the first one names, or none. */
#include "check.h"

#include <signal.h>

int main(int argc, char **argv)
{
    int sent = 1, received, flag;
    begin(&argc, &argv);
    for (int i = 0; i < atoi(argv[2]); ++i) {
        MPI_Request request;
        MPI_Sendrecv(&sent, 1, MPI_INT, rank, 7, &received, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&received, 1, MPI_INT, rank, i % 100, MPI_COMM_WORLD, &request);
        MPI_Send(&sent, 1, MPI_INT, rank, i % 100, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    if (atoi(argv[1]) != 0)
        raise(atoi(argv[1]));
    return finish();
}
