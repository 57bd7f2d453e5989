/* Asks whether persistent receives are complete before it waits for them: MPICH 4.2 loses their status then,
 * or aborts. */
#include "../programs/check.h"

int main(int argc, char** argv)
{
    MPI_Request request;
    int number = 0;
    begin(&argc, &argv);
    MPI_Recv_init(&number, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 10; ++i) {
        MPI_Status status = {.MPI_SOURCE = -100, .MPI_TAG = -100};
        MPI_Start(&request);
        MPI_Send(&i, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
        for (int flag = 0; !flag;) {
            MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, &status);
        CHECK(status.MPI_SOURCE == rank && status.MPI_TAG == 5 && number == i);
    }
    MPI_Request_free(&request);
    return finish();
}
