/* Ends as its argument says, while the other process waits in a barrier. */
#include <hdRegion.h>
#include <mpi.h>
#include <pthread.h>
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

/* As those that print where it was. */
static void take_time(int fault)
{
    (void)fault;
    usleep(200000);
    _exit(1);
}

static void* abort_in_thread(void* calls_mpi)
{
    int flag;
    if (calls_mpi)
        MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(100000);
    abort();
}

static void call_while_another_thread_aborts(int* calls_mpi)
{
    int sent = 0, received;
    pthread_t thread;
    pthread_create(&thread, NULL, abort_in_thread, calls_mpi);
    for (;;) {
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void* end_all(void* unused)
{
    usleep(100000);
    MPI_Abort(MPI_COMM_WORLD, 3);
    return unused;
}

static void receive_while_another_thread_ends_all(void)
{
    int received;
    pthread_t thread;
    pthread_create(&thread, NULL, end_all, NULL);
    MPI_Recv(&received, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end(const char* how)
{
    int yes = 1;
    if (strcmp(how, "ending-thread") == 0)
        receive_while_another_thread_ends_all();
    if (strcmp(how, "aborting-thread") == 0)
        call_while_another_thread_aborts(&yes);
    if (strcmp(how, "aborting-worker") == 0)
        call_while_another_thread_aborts(NULL);
    if (strcmp(how, "fault") == 0)
        *nowhere = 1;
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "terminated") == 0)
        kill(getpid(), SIGTERM);
}

int main(int argc, char** argv)
{
    int rank = 0, flag, provided;
    MPI_Aint address;
    if (strncmp(argv[1], "aborting", 8) == 0)
        signal(SIGABRT, take_time); /* the tracer's handler comes before it */
    if (strcmp(argv[1], "early") == 0)
        MPI_Get_address(&rank, &address);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
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
    if (strcmp(argv[1], "resumed") == 0)
        hdR_resume();
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    if (strcmp(argv[1], "behind") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
