/* no_init [fork]: asks MPI whether it is there, and does without. Or waits for a child, which uses it. */
#include "prelude.h"

#include <sys/wait.h>

static int supervise(int argc, char** argv)
{
    int status;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        begin_calls(&argc, &argv);
        MPI_Finalize();
        return 0;
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}

int main(int argc, char** argv)
{
    if (argc > 1)
        return supervise(argc, argv);
    int initialized, finalized, version, subversion;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    printf("%d %d\n", initialized, finalized);
    return 0;
}
