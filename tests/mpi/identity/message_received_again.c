/* The first attempt to receive a message that was matched fails, which leaves it to be received. */
#include "../programs/check.h"

int main(int argc, char** argv)
{
    int number = -1;
    MPI_Message message, given;
    MPI_Request request;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
    MPI_Mprobe(left, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    given = message;
    CHECK(MPI_Mrecv(&number, -1, MPI_INT, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS && message == given);
    CHECK_MPI(MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(number == left);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return finish();
}
