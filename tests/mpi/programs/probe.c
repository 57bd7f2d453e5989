/* Probing: blocking, polling, and matched, with the receives of matched messages. */
#include "check.h"

static const int values[4] = {1, 2, 3, 4};

static MPI_Request send_right(int count, int tag)
{
    MPI_Request request;
    MPI_Isend(values, count, MPI_INT, right, tag, MPI_COMM_WORLD, &request);
    return request;
}

static void check_status(const MPI_Status* status, int count, int tag)
{
    int counted;
    MPI_Get_count(status, MPI_INT, &counted);
    CHECK(status->MPI_SOURCE == left && status->MPI_TAG == tag && counted == count);
}

static void probe(void)
{
    int received[4];
    MPI_Status status;
    MPI_Request request = send_right(3, 10);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status(&status, 3, 10);
    MPI_Recv(received, 4, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void poll(void)
{
    int received[4], flag;
    MPI_Status status;
    MPI_Request request;
    MPI_Iprobe(left, 11, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    request = send_right(2, 11);
    do {
        MPI_Iprobe(left, 11, MPI_COMM_WORLD, &flag, &status);
    } while (!flag);
    check_status(&status, 2, 11);
    MPI_Recv(received, 4, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void matched_probe(void)
{
    int received[4];
    MPI_Message message;
    MPI_Status status;
    MPI_Request request = send_right(4, 12);
    MPI_Mprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &message, &status);
    check_status(&status, 4, 12);
    MPI_Mrecv(received, 4, MPI_INT, &message, &status);
    check_status(&status, 4, 12);
    CHECK(message == MPI_MESSAGE_NULL && received[3] == 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void matched_poll(void)
{
    int received[4], flag;
    MPI_Message message;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Improbe(left, 13, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    requests[0] = send_right(1, 13);
    do {
        MPI_Improbe(left, 13, MPI_COMM_WORLD, &flag, &message, &status);
    } while (!flag);
    MPI_Imrecv(received, 4, MPI_INT, &message, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(received[0] == 1);
}

static void probe_nobody(void)
{
    MPI_Message message;
    MPI_Status status;
    int flag;
    MPI_Probe(MPI_PROC_NULL, 14, MPI_COMM_WORLD, &status);
    MPI_Iprobe(MPI_PROC_NULL, 14, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 14, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(NULL, 0, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    probe();
    MPI_Barrier(MPI_COMM_WORLD);
    poll();
    matched_probe();
    matched_poll();
    probe_nobody();
    return finish();
}
