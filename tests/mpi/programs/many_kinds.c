/* Calls of many kinds, or one end: many_kinds [COMMUNICATORS] | many_kinds killed | many_kinds left
 *
 * Each communicator makes three kinds of calls: it is made, used and freed. */
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static jmp_buf behind;

static void leave(MPI_Comm* comm, int* error, ...)
{
    (void)comm, (void)error;
    longjmp(behind, 1);
}

/* An error handler goes elsewhere, so that the call never ends. */
static void leave_calls(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    for (volatile int i = 0; i < 3; ++i) {
        if (setjmp(behind) == 0) {
            MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_SELF);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "killed") == 0) {
        for (int i = 0; i < 10; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Pcontrol(2); /* writes what there is */
        MPI_Barrier(MPI_COMM_WORLD);
        syscall(SYS_kill, getpid(), SIGKILL); /* the tracer sees what programs ask for by raise() */
    }
    if (argc > 1 && strcmp(argv[1], "left") == 0) {
        leave_calls();
    }
    const int communicators = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < communicators; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    return finish();
}
