/* The Wait and Test families with complete, pending and null requests; Cancel, Request_free,
 * Request_get_status. */
#include "check.h"

enum { COUNT = 3, FIRST_TAG = 60, GO_TAG = 90 };

static int received[COUNT];

static void post(MPI_Request requests[], int count, int tag)
{
    for (int i = 0; i < count; ++i) {
        MPI_Irecv(&received[i], 1, MPI_INT, left, tag + i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send_to_right(int tag)
{
    MPI_Send(&rank, 1, MPI_INT, right, tag, MPI_COMM_WORLD);
}

static void send_all(int count, int tag)
{
    for (int i = 0; i < count; ++i) {
        send_to_right(tag + i);
    }
}

static void wait_and_test(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int flag;
    post(requests, 2, FIRST_TAG);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(2, FIRST_TAG);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == FIRST_TAG);
    do {
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* a null request: nothing to complete */
    MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
}

static void wait_and_test_all(void)
{
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT];
    int flag;
    post(requests, COUNT, FIRST_TAG + 10);
    MPI_Testall(COUNT, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(COUNT, FIRST_TAG + 10);
    MPI_Waitall(COUNT, requests, statuses);
    CHECK(statuses[2].MPI_TAG == FIRST_TAG + 12);

    post(requests, COUNT, FIRST_TAG + 10);
    send_all(COUNT, FIRST_TAG + 10);
    do {
        MPI_Testall(COUNT, requests, &flag, MPI_STATUSES_IGNORE);
    } while (!flag);
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
}

static void wait_and_test_any(void)
{
    MPI_Request requests[COUNT];
    MPI_Status status;
    int index, flag;
    post(requests, COUNT, FIRST_TAG + 20);
    MPI_Testany(COUNT, requests, &index, &flag, &status);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_right(FIRST_TAG + 21); /* the others stay pending */
    MPI_Waitany(COUNT, requests, &index, &status);
    CHECK(index == 1 && status.MPI_TAG == FIRST_TAG + 21);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_right(FIRST_TAG + 22);
    do {
        MPI_Testany(COUNT, requests, &index, &flag, &status);
    } while (!flag);
    CHECK(index == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_right(FIRST_TAG + 20);
    MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == 0);
    MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
}

static void wait_and_test_some(void)
{
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT];
    int indices[COUNT], completed, all = 0;
    post(requests, COUNT, FIRST_TAG + 30);
    MPI_Testsome(COUNT, requests, &completed, indices, statuses);
    CHECK(completed == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_right(FIRST_TAG + 32);
    MPI_Waitsome(COUNT, requests, &completed, indices, statuses);
    CHECK(completed == 1 && indices[0] == 2 && statuses[0].MPI_TAG == FIRST_TAG + 32);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(2, FIRST_TAG + 30);
    while (all < 2) {
        MPI_Testsome(COUNT, requests, &completed, indices, MPI_STATUSES_IGNORE);
        all += completed;
    }
    MPI_Waitsome(COUNT, requests, &completed, indices, MPI_STATUSES_IGNORE);
    CHECK(completed == MPI_UNDEFINED);
}

static void cancel_and_free(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int flag;
    post(requests, 1, FIRST_TAG + 40);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);

    post(requests, 1, FIRST_TAG + 41);
    MPI_Isend(&rank, 1, MPI_INT, right, FIRST_TAG + 41, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    do {
        MPI_Request_get_status(requests[0], &flag, &status);
    } while (!flag);
    CHECK(status.MPI_TAG == FIRST_TAG + 41 && requests[0] != MPI_REQUEST_NULL);
    MPI_Wait(&requests[0], &status);
    CHECK(received[0] == left);
}

static void move_requests(void)
{
    MPI_Request requests[COUNT], moved[COUNT];
    post(requests, COUNT, FIRST_TAG + 50);
    send_all(COUNT, FIRST_TAG + 50);
    for (int i = 0; i < COUNT; ++i) {
        moved[i] = requests[COUNT - 1 - i];
    }
    MPI_Waitall(COUNT, moved, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    wait_and_test();
    wait_and_test_all();
    wait_and_test_any();
    wait_and_test_some();
    cancel_and_free();
    move_requests();
    return finish();
}
