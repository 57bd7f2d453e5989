/* ranks WAY TRACES: two processes of a run; the last one is the reason why the others die in a call. */
#include "prelude.h"

#include <signal.h>

/* Until the trace of rank 0 shows the call that it will never leave, and the one of rank 1 what it did
 * before. */
static void wait_for_traces(const char* traces)
{
    char command[5000];
    snprintf(command, sizeof command,
             "until grep -q \"<Recv .*unfinished='1'\" %s_*_0_0.trc && grep -q '<Bcast ' %s_*_1_0.trc; do "
             "sleep 0.05; done",
             traces, traces);
    CHECK(system(command) == 0);
}

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    int rank, value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_for_traces(argv[2]);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (strcmp(argv[1], "fatal") == 0)
        MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "kill") == 0)
        raise(SIGKILL);
    return 97;
}
