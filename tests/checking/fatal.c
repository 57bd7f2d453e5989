// An error that nobody handles, while other processes wait; and what the program is told of the error
// handler. Recording may be paused before.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_fatal(MPI_Errhandler handler)
{
    if (handler != MPI_ERRORS_ARE_FATAL)
        abort();
    MPI_Errhandler_free(&handler);
    if (handler != MPI_ERRHANDLER_NULL)
        abort();
}

int main(int argc, char** argv)
{
    const char* const what = argc > 1 ? argv[1] : "";
    const int threads = strcmp(what, "threads") == 0;
    int rank, memory = 1, level;
    MPI_Errhandler told;
    MPI_Comm copy;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (!threads) /* not with each of Open MPI's components */
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 20; ++i) { /* Open MPI counts the references */
        MPI_Comm_get_errhandler(copy, &told);
        free_fatal(told);
        if (threads)
            continue;
        MPI_Win_get_errhandler(window, &told);
        free_fatal(told);
    }
    if (!threads)
        MPI_Win_free(&window);
    if (strcmp(what, "file") == 0) {
        MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
        MPI_File_get_errhandler(file, &told);
        free_fatal(told);
        MPI_File_write(file, &memory, -1, MPI_INT, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "set") == 0) /* it says itself what holds anyway */
        MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
    if (argc > 2)
        MPI_Pcontrol(0);
    if (rank == 0)
        usleep(500000); /* the other one waits by then */
    if (rank == 0)
        MPI_Send(&memory, 1, MPI_INT, 77, 0, copy);
    else
        MPI_Recv(&memory, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
