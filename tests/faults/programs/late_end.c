/* late_end WAY: MPI is ended when the program ends, by what was made known before MPI_Init; or not yet by
 * MPI_Finalize, as a session goes on. Or it ends at once, and the program says how many threads it has; or a
 * session cannot begin. */
#include "prelude.h"

#include <sys/stat.h>
#include <sys/syscall.h>

extern int ends_mpi_at_exit;

static void end_mpi(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

#if MPI_VERSION >= 4
static void finalize_before_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, nobody = MPI_COMM_WORLD;
    int value = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &nobody);
    CHECK(nobody == MPI_COMM_NULL);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "late", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Finalize();
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}
#endif

static void count_threads(void)
{
    struct stat threads;
    MPI_Finalize();
    CHECK(stat("/proc/self/task", &threads) == 0);
    printf("%d\n", (int)threads.st_nlink - 2);
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
    if (strcmp(way, "threads") == 0)
        count_threads();
    if (strcmp(way, "system_call") == 0) {
        MPI_Finalize();
        syscall(SYS_exit_group, 0);
    }
#if MPI_VERSION >= 4
    if (strcmp(way, "session") == 0)
        finalize_before_session();
    if (strcmp(way, "bad_session") == 0)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, NULL);
#endif
    return 0;
}
