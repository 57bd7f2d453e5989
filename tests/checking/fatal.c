// An error that nobody handles, while other processes wait; and what the program is told of the error
// handler.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    int rank, memory = 1;
    MPI_Errhandler of_comm, of_window;
    MPI_Comm copy;
    MPI_Win window;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 20; ++i) { /* Open MPI counts the references */
        MPI_Comm_get_errhandler(copy, &of_comm);
        MPI_Win_get_errhandler(window, &of_window);
        if (of_comm != MPI_ERRORS_ARE_FATAL || of_window != MPI_ERRORS_ARE_FATAL)
            abort();
        MPI_Errhandler_free(&of_comm);
        MPI_Errhandler_free(&of_window);
        if (of_comm != MPI_ERRHANDLER_NULL || of_window != MPI_ERRHANDLER_NULL)
            abort();
    }
    MPI_Win_free(&window);
    if (argc > 1 && strcmp(argv[1], "file") == 0) {
        MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
        MPI_File_get_errhandler(file, &of_window);
        if (of_window != MPI_ERRORS_ARE_FATAL)
            abort();
        MPI_Errhandler_free(&of_window);
        MPI_File_write(file, &memory, -1, MPI_INT, MPI_STATUS_IGNORE);
    }
    if (argc > 1) /* it says itself what holds anyway */
        MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
    if (rank == 0)
        usleep(500000); /* the other one waits by then */
    if (rank == 0)
        MPI_Send(&memory, 1, MPI_INT, 77, 0, copy);
    else
        MPI_Recv(&memory, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
