/* Wrong arguments: the classes of errors, and how often and with what the program's error handlers are
 * called. */
#include "edge_cases.h"

#include <unistd.h>

static int handled;

static void on_comm(MPI_Comm* comm, int* code, ...)
{
    (void)comm;
    say("handler of a communicator: class %d, call %d", class_of(*code), ++handled);
}

static void on_file(MPI_File* file, int* code, ...)
{
    (void)file;
    say("handler of a file: class %d, call %d", class_of(*code), ++handled);
}

static void on_win(MPI_Win* win, int* code, ...)
{
    (void)win;
    say("handler of a window: class %d, call %d", class_of(*code), ++handled);
}

static void send_and_receive(MPI_Comm comm)
{
    int value = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    SAY(MPI_Send(&value, 1, MPI_INT, size + 5, 1, comm));
    SAY(MPI_Send(&value, 1, MPI_INT, -77, 1, comm));
    SAY(MPI_Send(&value, -1, MPI_INT, right, 1, comm));
    SAY(MPI_Send(&value, 1, MPI_INT, right, -8, comm));
    SAY(MPI_Send(&value, 1, MPI_DATATYPE_NULL, right, 1, comm));
    SAY(MPI_Send(&value, 0, raw, MPI_PROC_NULL, 1, comm));
    SAY(MPI_Isend(&value, 1, MPI_INT, size, 1, comm, &request));
    SAY(MPI_Recv(&value, 1, MPI_INT, size, 1, comm, &status));
    SAY(MPI_Sendrecv(&value, 1, MPI_INT, size, 1, &value, 1, MPI_INT, left, 1, comm, &status));
    SAY(MPI_Probe(size, 1, comm, &status));
    MPI_Type_free(&raw);
}

static void collect(MPI_Comm comm)
{
    int value = 1, all[64];
    SAY(MPI_Bcast(&value, 1, MPI_INT, size, comm));
    SAY(MPI_Bcast(&value, -1, MPI_INT, 0, comm));
    SAY(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, -5, comm));
    SAY(MPI_Reduce(&value, all, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    SAY(MPI_Allreduce(&value, all, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    SAY(MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, size + 1, comm));
}

static void without_a_communicator(void)
{
    int value = 1, flag;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group;
    MPI_Win win;
    SAY(MPI_Barrier(MPI_COMM_NULL));
    SAY(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    SAY(MPI_Comm_dup(MPI_COMM_NULL, &made));
    SAY(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
    SAY(MPI_Comm_free(&made));
    SAY(MPI_Comm_rank(MPI_COMM_NULL, &value));
    SAY(MPI_Comm_group(MPI_COMM_NULL, &group));
    SAY(MPI_Type_free(&type));
    SAY(MPI_Type_commit(&type));
    SAY(MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &type));
    SAY(MPI_Type_contiguous(-2, MPI_INT, &type));
    SAY(MPI_Type_vector(2, -1, 2, MPI_INT, &type));
    SAY(MPI_Comm_get_attr(MPI_COMM_NULL, MPI_TAG_UB, &value, &flag));
    SAY(MPI_Win_create(&value, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
    SAY(MPI_Comm_split(MPI_COMM_WORLD, -55, 0, &made));
    SAY(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &value, NULL));
    SAY(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB));
    SAY(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL));
    MPI_Comm_free_keyval(&value);
}

static void freed_predefined_types(void)
{
    MPI_Datatype type = MPI_INT;
    SAY(MPI_Type_free(&type));
}

/* Where nobody wants statuses, Open MPI 6.0 may call it a success that a receive failed, and keep its
 * request: that depends on when the message came. */
static int wait_for_what_was_not_told(int ec, MPI_Request requests[2])
{
    for (int i = 0; i < 2; ++i) {
        if (ec == MPI_SUCCESS && requests[i] != MPI_REQUEST_NULL &&
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            ec = MPI_ERR_IN_STATUS;
        }
    }
    return ec;
}

static void truncate_messages(MPI_Comm comm)
{
    int sent[4] = {0}, received[2];
    MPI_Request requests[2];
    MPI_Status statuses[2] = {untouched(), untouched()};
    int ec;
    MPI_Isend(sent, 4, MPI_INT, right, 4, comm, &requests[0]);
    SAY(MPI_Recv(received, 2, MPI_INT, left, 4, comm, &statuses[0]));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int ignore = 0; ignore < 2; ++ignore) {
        MPI_Irecv(received, 2, MPI_INT, left, 5, comm, &requests[0]);
        MPI_Isend(sent, 4, MPI_INT, right, 5, comm, &requests[1]);
        ec = MPI_Waitall(2, requests, ignore ? MPI_STATUSES_IGNORE : statuses);
        ec = wait_for_what_was_not_told(ec, requests);
        say("waited for a message that did not fit: %d, null %d %d", class_of(ec),
            requests[0] == MPI_REQUEST_NULL, requests[1] == MPI_REQUEST_NULL);
        if (!ignore) {
            say_status("first", &statuses[0]);
            say_status("second", &statuses[1]);
        }
        for (int i = 0; i < 2; ++i) {
            if (requests[i] != MPI_REQUEST_NULL) {
                SAY(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            }
        }
    }
}

static void on_files(void)
{
    char name[200];
    MPI_File file = MPI_FILE_NULL;
    MPI_Errhandler handler;
    MPI_Status status;
    MPI_Offset offset;
    int value = 1;
    MPI_File_create_errhandler(on_file, &handler);
    SAY(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    SAY(MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, &status));
    SAY(MPI_File_seek(MPI_FILE_NULL, 0, MPI_SEEK_SET));
    SAY(MPI_File_close(&file));
    SAY(MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL));
    snprintf(name, sizeof name, "edge-case-%d", rank);
    SAY(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL,
                      MPI_INFO_NULL, &file));
    MPI_File_set_errhandler(file, handler);
    SAY(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
    SAY(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status));
    SAY(MPI_File_write(file, &value, 1, MPI_INT, &status));
    SAY(MPI_File_read(file, &value, 1, MPI_INT, &status));
    SAY(MPI_File_seek(file, 0, MPI_SEEK_SET));
    SAY(MPI_File_get_position(file, &offset));
    SAY(MPI_File_close(&file));
    SAY(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_File_set_errhandler(file, handler);
    SAY(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status));
    SAY(MPI_File_seek(file, -4, MPI_SEEK_SET));
    SAY(MPI_File_seek(file, 4, 1234));
    SAY(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL));
    SAY(MPI_File_read_all_begin(file, &value, 1, MPI_INT));
    SAY(MPI_File_read_all_end(file, &value, &status));
    SAY(MPI_File_close(&file));
    SAY(MPI_File_close(&file));
    MPI_Errhandler_free(&handler);
    unlink(name);
}

static void on_windows(void)
{
    int memory[4] = {0}, value = 1;
    MPI_Win win;
    MPI_Errhandler handler;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_fence(0, win);
    SAY(MPI_Put(&value, 1, MPI_INT, size + 1, 0, 1, MPI_INT, win));
    SAY(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    SAY(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
    SAY(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
    SAY(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    MPI_Win_fence(0, win);
    SAY(MPI_Win_lock(4711, 0, 0, win));
    SAY(MPI_Win_free(&win));
    MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv)
{
    MPI_Comm copy;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    send_and_receive(copy);
    collect(copy);
    without_a_communicator();
    freed_predefined_types();
    truncate_messages(copy);
    on_files();
    on_windows();
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&copy);
    return_errors();
    return finish();
}
