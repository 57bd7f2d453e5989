/* What rules choose among: messages of two sizes, polls, regions, and calls that count. */
#include "check.h"

enum { LARGE = 1000, POLLS = 5 };

static int small_value, large_values[LARGE], received_values[LARGE];

static void exchange(int count)
{
    MPI_Request requests[2];
    MPI_Irecv(received_values, count, MPI_INT, left, count, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(large_values, count, MPI_INT, right, count, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void send_and_receive(int count)
{
    MPI_Request request;
    MPI_Issend(large_values, count, MPI_INT, right, count, MPI_COMM_WORLD, &request);
    MPI_Recv(received_values, count, MPI_INT, left, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A message that has not come, so often; then one that has. */
static void poll(void)
{
    int flag = 0;
    MPI_Request request, sent;
    for (int i = 0; i < POLLS; ++i) {
        MPI_Iprobe(left, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Irecv(&small_value, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < POLLS; ++i) {
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < POLLS; ++i) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &sent);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void broadcast(int count)
{
    MPI_Bcast(large_values, count, MPI_INT, 0, MPI_COMM_WORLD);
}

static void use_regions(void)
{
    broadcast(1);
    MPI_Pcontrol(100, "solve it");
    broadcast(2);
    MPI_Pcontrol(100, "inner");
    broadcast(3);
    MPI_Pcontrol(-100, "inner");
    MPI_Pcontrol(-100, "solve it");
    broadcast(4);
}

/* Four times: from and until one of them, others may be recorded. */
static void repeat(void)
{
    int sum;
    for (int i = 1; i <= 4; ++i) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Scan(large_values, received_values, i, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv)
{
    MPI_Comm copy;
    int value = 0;

    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    exchange(1);
    exchange(LARGE);
    send_and_receive(1);
    send_and_receive(LARGE);
    poll();
    use_regions();
    repeat();
    MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&rank, 1, MPI_INT, received_values, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Exscan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    return finish();
}
