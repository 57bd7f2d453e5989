/* late_end WAY: MPI is ended when the program ends, by what was made known before MPI_Init. */
#include "prelude.h"

extern int ends_mpi_at_exit;

static void end_mpi(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

int main(int argc, char** argv)
{
    const char* const way = argc > 1 ? argv[1] : "";
    ends_mpi_at_exit = strcmp(way, "library") == 0;
    if (strcmp(way, "handler") == 0)
        atexit(end_mpi);
    if (strcmp(way, "quick_handler") == 0)
        at_quick_exit(end_mpi);
    begin_calls(&argc, &argv);
    if (strcmp(way, "quick_handler") == 0)
        quick_exit(0);
    return 0;
}
