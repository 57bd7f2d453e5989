/* Two messages of one source and tag are found, and the second one is received first. */
#include "check.h"

static const int values[4] = {1, 2, 3, 4};

int main(int argc, char** argv)
{
    int received[4], counted;
    MPI_Message messages[2];
    MPI_Status status;
    MPI_Request requests[3];
    begin(&argc, &argv);
    MPI_Isend(values, 1, MPI_INT, right, 15, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(values, 3, MPI_INT, right, 15, MPI_COMM_WORLD, &requests[1]);
    MPI_Mprobe(left, 15, MPI_COMM_WORLD, &messages[0], &status);
    MPI_Mprobe(left, 15, MPI_COMM_WORLD, &messages[1], &status);
    MPI_Mrecv(received, 3, MPI_INT, &messages[1], &status);
    MPI_Get_count(&status, MPI_INT, &counted);
    CHECK(counted == 3);
    MPI_Imrecv(received, 1, MPI_INT, &messages[0], &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    return finish();
}
