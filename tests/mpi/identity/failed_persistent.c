/* Persistent receives whose message is too long: they have completed, but keep their handles. The others
 * MPICH leaves to a later call. */
#include "../programs/check.h"

int main(int argc, char** argv)
{
    MPI_Request requests[2];
    int numbers[2] = {0};
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; ++i) {
        MPI_Recv_init(&numbers[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int length = 1; length <= 2; ++length) {
        MPI_Startall(2, requests);
        for (int i = 0; i < 2; ++i) {
            MPI_Send((int[]){1, 2}, i == 0 ? length : 1, MPI_INT, rank, i, MPI_COMM_WORLD);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* Open MPI 4.1 says here that all is well */
    }
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Start(&requests[0]);
    MPI_Send((int[]){1, 2}, 2, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&requests[i]);
    }
    return finish();
}
