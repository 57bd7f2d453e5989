/* Calls that fail and return: the program goes on. Error handlers, classes, codes and texts. */
#include "check.h"

static int handled;

static void count_error(MPI_Comm* comm, int* code, ...)
{
    (void)comm;
    (void)code;
    ++handled;
}

static void fail_and_go_on(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm none = MPI_COMM_NULL;
    int value = 1, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_RANK);
    MPI_Error_class(MPI_Send(&value, -1, MPI_INT, right, 2, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Error_class(MPI_Isend(&value, 1, MPI_INT, right, -7, MPI_COMM_WORLD, &request), &class);
    CHECK(class == MPI_ERR_TAG);
    MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, size + 5, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Barrier(none), &class);
    CHECK(class == MPI_ERR_COMM);
    MPI_Error_class(MPI_Send(&value, 1, MPI_DATATYPE_NULL, right, 3, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_TYPE);
}

static void receive_too_much(void)
{
    int sent[4] = {0}, received[2], class;
    MPI_Request request;
    MPI_Isend(sent, 4, MPI_INT, right, 4, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Recv(received, 2, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void handle(void)
{
    MPI_Errhandler counter, current;
    MPI_Comm copy;
    int value;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_create_errhandler(count_error, &counter);
    MPI_Comm_set_errhandler(copy, counter);
    MPI_Comm_get_errhandler(copy, &current);
    MPI_Errhandler_free(&current);
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    MPI_Send(&value, 1, MPI_INT, size + 5, 1, copy);
    CHECK(handled == 2);
    /* Nobody else asks for the members of what is no group: that would be one more error. */
    MPI_Comm made = MPI_COMM_NULL; /* MPICH 5.0.2 leaves it as it is, and returns MPI_SUCCESS */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counter);
    MPI_Comm_create(copy, MPI_GROUP_NULL, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(handled == 3);
    MPI_Errhandler_free(&counter);
    MPI_Comm_free(&copy);
}

static void describe(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, code, length;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "out of coffee");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "out of coffee") == 0);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    fail_and_go_on();
    receive_too_much();
    handle();
    describe();
    return finish();
}
