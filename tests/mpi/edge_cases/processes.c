/* Children of all kinds, libraries loaded late, and ends in other threads than the first: ARGUMENT says
 * which. */
#include "edge_cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void have_children(char** argv)
{
    char line[100] = "";
    int state = -1;
    const pid_t child = fork();
    if (child == 0) {
        MPI_Comm comm = MPI_COMM_WORLD;
        int members;
        MPI_Comm_size(comm, &members);
        exit(members == size ? 7 : 8); /* with the functions that run at exit */
    }
    waitpid(child, &state, 0);
    say("fork: %d", WEXITSTATUS(state));
    say("system: %d", WEXITSTATUS(system("test -z \"$LD_PRELOAD\"")));
    FILE* const pipe = popen("echo \"<$LD_PRELOAD>\"", "r");
    if (fgets(line, sizeof line, pipe) != NULL) {
        say("popen: %s", line);
    }
    pclose(pipe);
    const pid_t other = fork();
    if (other == 0) {
        execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
        _exit(1);
    }
    waitpid(other, &state, 0);
    say("exec: %d, program %d", WEXITSTATUS(state), argv[0] != NULL);
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void load_library(void)
{
    int (*const barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "MPI_Barrier");
    int (*const below)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "PMPI_Barrier");
    SAY(barrier(MPI_COMM_WORLD));
    SAY(below(MPI_COMM_WORLD));
    void* const library = dlopen("libm.so.6", RTLD_NOW);
    say("library %d", library != NULL);
    dlclose(library);
}

static void* end_here(void* argument)
{
    pthread_t* const first = argument;
    if (first != NULL) {
        pthread_join(*first, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say("the end");
    MPI_Finalize();
    exit(0);
}

int main(int argc, char** argv)
{
    int provided, initialized = -1, finalized = -1;
    static pthread_t first;
    pthread_t thread;
    const char* const way = argc > 1 ? argv[1] : "children";
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    say("initialized %d finalized %d", initialized, finalized);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Initialized(&initialized);
    say("initialized %d", initialized);
    have_children(argv);
    load_library();
    first = pthread_self();
    if (strcmp(way, "pthread_exit") == 0) {
        pthread_create(&thread, NULL, end_here, &first);
        pthread_exit(NULL);
    }
    if (strcmp(way, "exit") == 0) {
        pthread_create(&thread, NULL, end_here, NULL);
        for (;;) {
            pause();
        }
    }
    if (strcmp(way, "fatal") == 0) {
        // The first that fails ends the others, which must have said all until here.
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
    }
    MPI_Pcontrol(0);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2);
    MPI_Pcontrol(77, 1, 2.0, "three");
    MPI_Finalize();
    if (strcmp(way, "five") == 0) {
        return 5 * (rank == 0); // which ends the others, wherever they are behind MPI_Finalize
    }
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    say("initialized %d finalized %d", initialized, finalized);
    return 0;
}
