/* What came with MPI 4.1: buffers of communicators and sessions, questions about several requests, members of
 * statuses, error codes that are given back. */
#include "check.h"

static char memory[3][4096 + MPI_BSEND_OVERHEAD];

static void exchange(MPI_Comm comm, int tag)
{
    int received = -1;
    MPI_Bsend(&rank, 1, MPI_INT, right, tag, comm);
    MPI_Recv(&received, 1, MPI_INT, left, tag, comm, MPI_STATUS_IGNORE);
    CHECK(received == left);
}

static void buffers(void)
{
    MPI_Comm comm;
    MPI_Session session;
    MPI_Request requests[3];
    void* given;
    int length;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Buffer_attach(memory[0], sizeof memory[0]);
    MPI_Comm_attach_buffer(comm, memory[1], sizeof memory[1]);
    MPI_Session_attach_buffer(session, memory[2], sizeof memory[2]);
    exchange(MPI_COMM_WORLD, 1);
    exchange(comm, 2);
    MPI_Buffer_flush();
    MPI_Comm_flush_buffer(comm);
    MPI_Session_flush_buffer(session);
    MPI_Buffer_iflush(&requests[0]);
    MPI_Comm_iflush_buffer(comm, &requests[1]);
    MPI_Session_iflush_buffer(session, &requests[2]);
    if (rank == 0 && requests[0] == MPI_REQUEST_NULL) {
        puts("nothing to wait for"); /* Open MPI 6.0 */
    }
    MPI_Waitall(LENGTH(requests), requests, MPI_STATUSES_IGNORE);
    MPI_Session_detach_buffer(session, &given, &length);
    MPI_Comm_detach_buffer(comm, &given, &length);
    CHECK(given == memory[1]);
    MPI_Buffer_detach(&given, &length);
    CHECK(given == memory[0]);
    MPI_Session_finalize(&session);
    MPI_Comm_free(&comm);
}

static void requests_and_statuses(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2], status;
    int received, flag = 0, index, count, indices[2], value;
    MPI_Irecv(&received, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!flag) {
        MPI_Request_get_status_all(LENGTH(requests), requests, &flag, statuses);
    }
    MPI_Request_get_status_any(LENGTH(requests), requests, &index, &flag, &status);
    CHECK(flag && index >= 0);
    MPI_Request_get_status_some(LENGTH(requests), requests, &count, indices, statuses);
    CHECK(count == 2);
    MPI_Waitall(LENGTH(requests), requests, statuses);
    MPI_Status_get_source(&statuses[0], &value);
    CHECK(value == left);
    MPI_Status_get_tag(&statuses[0], &value);
    CHECK(value == 3);
    MPI_Status_set_source(&status, 7);
    MPI_Status_set_tag(&status, 8);
    MPI_Status_set_error(&status, MPI_SUCCESS);
    MPI_Status_get_error(&status, &value);
    CHECK(value == MPI_SUCCESS && status.MPI_SOURCE == 7 && status.MPI_TAG == 8);
}

static void others(void)
{
    MPI_Info info;
    MPI_Datatype pair;
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "out of tea");
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_free(&info);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    buffers();
    requests_and_statuses();
    others();
    return finish();
}
