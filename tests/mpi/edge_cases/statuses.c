/* What completion calls write and leave alone; arrays with null, inactive and no requests; cancelled
 * operations. */
#include "edge_cases.h"

enum { COUNT = 4 };

static int buffer[COUNT];
static MPI_Request requests[COUNT];
static MPI_Status statuses[COUNT];
static int indices[COUNT];

static void fill(void)
{
    for (int i = 0; i < COUNT; ++i) {
        statuses[i] = untouched();
        indices[i] = -9;
        requests[i] = MPI_REQUEST_NULL;
    }
}

static void say_all(const char* what)
{
    for (int i = 0; i < COUNT; ++i) {
        say_status(what, &statuses[i]);
        say("%s: index %d null %d", what, indices[i], requests[i] == MPI_REQUEST_NULL);
    }
}

static void nothing_at_all(void)
{
    int index = -9, flag = -9, count = -9;
    MPI_Status status = untouched();
    SAY(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    SAY(MPI_Waitall(0, NULL, NULL));
    SAY(MPI_Waitany(0, NULL, &index, &status));
    say("index %d", index);
    say_status("waitany", &status);
    SAY(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    say("count %d", count);
    SAY(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    say("flag %d", flag);
    status = untouched();
    SAY(MPI_Testany(0, NULL, &index, &flag, &status));
    say("index %d flag %d", index, flag);
    say_status("testany", &status);
    SAY(MPI_Testsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    say("count %d", count);
    SAY(MPI_Startall(0, NULL));
    SAY(MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE));
    SAY(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    SAY(MPI_Wait(NULL, MPI_STATUS_IGNORE));
    requests[0] = MPI_REQUEST_NULL;
    SAY(MPI_Start(&requests[0]));
    SAY(MPI_Cancel(&requests[0]));
    SAY(MPI_Request_free(&requests[0]));
}

static void null_requests(void)
{
    int index = -9, flag = -9, count = -9;
    MPI_Status status = untouched();
    fill();
    SAY(MPI_Waitall(COUNT, requests, statuses));
    say_all("waitall");
    fill();
    SAY(MPI_Testall(COUNT, requests, &flag, statuses));
    say_all("testall");
    fill();
    SAY(MPI_Waitsome(COUNT, requests, &count, indices, statuses));
    say("count %d", count);
    say_all("waitsome");
    fill();
    SAY(MPI_Testany(COUNT, requests, &index, &flag, &status));
    say_status("testany", &status);
    status = untouched();
    SAY(MPI_Wait(&requests[0], &status));
    say_status("wait", &status);
    status = untouched();
    SAY(MPI_Test(&requests[0], &flag, &status));
    say_status("test", &status);
    status = untouched();
    SAY(MPI_Request_get_status(requests[0], &flag, &status));
    say_status("request_get_status", &status);
}

static void errors_stay_untouched(void)
{
    MPI_Status status = untouched();
    MPI_Request request;
    int flag = 0, index;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, buffer, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status);
    say_status("sendrecv", &status);
    status = untouched();
    MPI_Irecv(buffer, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status("wait", &status);
    status = untouched();
    MPI_Irecv(buffer, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    while (!flag) {
        MPI_Testany(1, &request, &index, &flag, &status);
    }
    say_status("testany", &status);
    status = untouched();
    MPI_Isend(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    MPI_Probe(left, 6, MPI_COMM_WORLD, &status);
    say_status("probe", &status);
    status = untouched();
    MPI_Recv(buffer, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &status);
    say_status("recv", &status);
    status = untouched();
    MPI_Wait(&request, &status);
    say("send's status: error %d", status.MPI_ERROR);
}

static void mixed_requests(void)
{
    int count = -9;
    fill();
    MPI_Recv_init(buffer, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&buffer[1], 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(&rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
    SAY(MPI_Waitsome(COUNT, requests, &count, indices, statuses));
    say("count %d", count);
    say_all("mixed");
    SAY(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    SAY(MPI_Waitall(COUNT, requests, statuses));
    say_all("only an inactive one");
    for (int i = 0; i < 100; ++i) {
        MPI_Start(&requests[1]);
        MPI_Send(&i, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
        MPI_Waitall(COUNT, requests, statuses);
    }
    say("received %d", buffer[0]);
    MPI_Start(&requests[1]);
    MPI_Request_free(&requests[1]); /* while it is active */
    MPI_Send(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cancelled(void)
{
    MPI_Status status = untouched();
    MPI_Request request;
    int flag;
    MPI_Irecv(buffer, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &request);
    SAY(MPI_Cancel(&request));
    SAY(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &flag);
    say("cancelled %d error %d", flag, status.MPI_ERROR);
    MPI_Recv_init(buffer, 1, MPI_INT, left, 78, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        SAY(MPI_Cancel(&request));
        SAY(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    }
    MPI_Request_free(&request);
}

static void truncated_some(void)
{
    int sent[4] = {0}, count = -9, all = 0, outcome = MPI_SUCCESS;
    fill();
    MPI_Irecv(&buffer[0], 1, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&buffer[1], 1, MPI_INT, left, 21, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(sent, 4, MPI_INT, right, 20, MPI_COMM_WORLD);
    MPI_Send(sent, 1, MPI_INT, right, 21, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    while (all < 2) {
        const int rc = MPI_Testsome(2, requests, &count, indices, statuses);
        if (rc != MPI_SUCCESS) {
            outcome = rc;
        }
        if (count == MPI_UNDEFINED) {
            break;
        }
        for (int i = 0; i < count; ++i) {
            say("done %d with tag %d", indices[i], statuses[i].MPI_TAG);
        }
        all += count;
    }
    say("outcome %d", class_of(outcome));
    MPI_Irecv(&buffer[0], 1, MPI_INT, left, 22, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(sent, 4, MPI_INT, right, 22, MPI_COMM_WORLD);
    SAY(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Irecv(&buffer[0], 1, MPI_INT, left, 23, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(sent, 4, MPI_INT, right, 23, MPI_COMM_WORLD);
    SAY(MPI_Waitany(1, requests, indices, MPI_STATUS_IGNORE));
    MPI_Irecv(&buffer[0], 1, MPI_INT, left, 24, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(sent, 4, MPI_INT, right, 24, MPI_COMM_WORLD);
    SAY(MPI_Waitsome(1, requests, &count, indices, MPI_STATUSES_IGNORE));
    SAY(MPI_Waitall(1, requests, MPI_STATUSES_IGNORE));
}

/* Statuses of Fortran are arrays of INTEGER, which MPI takes for its own. */
static void aligned_as_integers(void)
{
    enum { INTEGERS = sizeof(MPI_Status) / sizeof(int) };
    int memory[1 + 2 * INTEGERS + 1] = {0}, sent = 1, flag = 0;
    MPI_Status* const given = (MPI_Status*)(void*)((uintptr_t)&memory[0] % 8 == 0 ? &memory[1] : &memory[0]);
    MPI_Status seen[2];
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 30, buffer, 1, MPI_INT, left, 30, MPI_COMM_WORLD, given);
    memcpy(seen, given, sizeof seen[0]);
    say_status("sendrecv", &seen[0]);
    MPI_Irecv(&buffer[0], 1, MPI_INT, left, 31, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&buffer[1], 1, MPI_INT, left, 32, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&sent, 1, MPI_INT, right, 31, MPI_COMM_WORLD);
    MPI_Send(&sent, 1, MPI_INT, right, 32, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, given);
    memcpy(seen, given, sizeof seen);
    say_status("waitall", &seen[0]);
    say_status("waitall", &seen[1]);
    MPI_Send(&sent, 1, MPI_INT, MPI_PROC_NULL, 33, MPI_COMM_WORLD);
    MPI_Iprobe(MPI_PROC_NULL, 33, MPI_COMM_WORLD, &flag, given);
    memcpy(seen, given, sizeof seen[0]);
    say_status("iprobe", &seen[0]);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    return_errors();
    nothing_at_all();
    null_requests();
    errors_stay_untouched();
    mixed_requests();
    cancelled();
    truncated_some();
    aligned_as_integers();
    return finish();
}
