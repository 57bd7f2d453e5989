/* Ends as its argument says, while the other process waits in a barrier. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static volatile int* volatile nowhere;

static void handle(int signal)
{
    handled = signal;
}

static void end(const char* how)
{
    if (strcmp(how, "fault") == 0)
        *nowhere = 1;
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "terminated") == 0)
        kill(getpid(), SIGTERM);
}

int main(int argc, char** argv)
{
    int rank = 0, flag;
    MPI_Aint address;
    if (strcmp(argv[1], "early") == 0)
        MPI_Get_address(&rank, &address);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "handled") == 0) {
        signal(SIGUSR1, handle);
        raise(SIGUSR1);
    }
    if (rank == 0) {
        usleep(300000); /* the other one waits by then */
        end(argv[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "twice") == 0)
        MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    if (strcmp(argv[1], "behind") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
