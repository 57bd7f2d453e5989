/* Completion calls of which one request fails: a message is too long for its receive. The others receive what
 * they should, one of them later. With and without statuses. (Open MPI does not look at messages to oneself.)
 */
#include "../programs/check.h"

enum { FITS, TOO_LONG, LATE, COUNT };
enum { WAITALL, WAITSOME, TESTALL, TESTSOME, WAYS };

static int received[COUNT];
static MPI_Request requests[COUNT];
static MPI_Status all_statuses[COUNT];
static int indices[COUNT];

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void send_late(void)
{
    MPI_Send((int[]){3}, 1, MPI_INT, right, LATE, MPI_COMM_WORLD);
}

static int complete_until_one_fails(int way, MPI_Status* statuses)
{
    int rc = MPI_SUCCESS, flag = 0, count = 0;
    while (rc == MPI_SUCCESS) {
        rc = way == WAITALL    ? MPI_Waitall(COUNT, requests, statuses)
             : way == WAITSOME ? MPI_Waitsome(COUNT, requests, &count, indices, statuses)
             : way == TESTALL  ? MPI_Testall(COUNT, requests, &flag, statuses)
                               : MPI_Testsome(COUNT, requests, &count, indices, statuses);
    }
    return rc;
}

static void fail(int way, MPI_Status* statuses)
{
    for (int i = 0; i < COUNT; ++i) {
        MPI_Irecv(&received[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send((int[]){1}, 1, MPI_INT, right, FITS, MPI_COMM_WORLD);
    MPI_Send((int[]){2, 2}, 2, MPI_INT, right, TOO_LONG, MPI_COMM_WORLD);
    if (way == WAITALL || way == TESTALL) {
        send_late();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(complete_until_one_fails(way, statuses)) == MPI_ERR_IN_STATUS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (way == WAITSOME || way == TESTSOME) {
        send_late();
    }
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    CHECK(received[FITS] == 1 && received[LATE] == 3);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; size > 1 && way < WAYS; ++way) {
        fail(way, all_statuses);
        fail(way, MPI_STATUSES_IGNORE);
    }
    return finish();
}
