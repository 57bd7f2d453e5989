/* Blocking receives: exact, shorter than the buffer, from any source with any tag, of nothing, from nobody;
 * and Sendrecv. */
#include "check.h"

static void send_right(int count, int tag, MPI_Request* request)
{
    static const double values[8];
    MPI_Isend(values, count, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, request);
}

static void receive_all(void)
{
    static const struct {
        int count, from_any, any_tag;
    } messages[] = {{8, 0, 0}, {3, 0, 0}, {2, 1, 0}, {4, 0, 1}, {5, 1, 1}, {0, 0, 0}};
    double received[8];
    for (int i = 0; i < LENGTH(messages); ++i) {
        MPI_Request request;
        MPI_Status status;
        int count;
        send_right(messages[i].count, 20 + i, &request);
        MPI_Recv(received, 8, MPI_DOUBLE, messages[i].from_any ? MPI_ANY_SOURCE : left,
                 messages[i].any_tag ? MPI_ANY_TAG : 20 + i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == messages[i].count && status.MPI_SOURCE == left && status.MPI_TAG == 20 + i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* keeps the wildcards from taking the next message */
    }
}

static void receive_without_status(void)
{
    MPI_Request request;
    double received[8];
    send_right(6, 30, &request);
    MPI_Recv(received, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void talk_to_nobody(void)
{
    MPI_Status status;
    int value = 17, count;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 31, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 31, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(value == 17 && count == 0 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

static void exchange(void)
{
    int mine[3] = {rank, rank, rank}, theirs[5], elements;
    MPI_Count many;
    MPI_Status status;
    MPI_Sendrecv(mine, 3, MPI_INT, right, 40, theirs, 5, MPI_INT, left, 40, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, MPI_INT, &elements);
    MPI_Get_elements_x(&status, MPI_INT, &many);
    CHECK(theirs[2] == left && elements == 3 && many == 3);
    MPI_Sendrecv(mine, 2, MPI_INT, right, 41, theirs, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(mine, 3, MPI_INT, right, 42, left, 42, MPI_COMM_WORLD, &status);
    CHECK(mine[0] == left && status.MPI_SOURCE == left);
    MPI_Sendrecv(mine, 3, MPI_INT, MPI_PROC_NULL, 43, theirs, 5, MPI_INT, MPI_PROC_NULL, 43, MPI_COMM_WORLD,
                 &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    receive_all();
    receive_without_status();
    talk_to_nobody();
    exchange();
    return finish();
}
