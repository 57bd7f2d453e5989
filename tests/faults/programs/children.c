/* children WAY [PROGRAM]: starts a process in some way, and goes on with MPI. */
#include "prelude.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static const char* mpi_program = NULL;

static int status_of(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void expect_exit(pid_t child, int code)
{
    const int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

static void fork_exit(void)
{
    const pid_t child = fork();
    if (child == 0)
        exit(3);
    make_calls(1);
    expect_exit(child, 3);
}

static void fork_underscore_exit(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(3);
    make_calls(1);
    expect_exit(child, 3);
}

static void fork_signal(void)
{
    const pid_t child = fork();
    if (child == 0)
        raise(SIGTERM);
    make_calls(1);
    const int status = status_of(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void fork_exec(void)
{
    const pid_t child = fork();
    if (child == 0)
        execl("/bin/sh", "sh", "-c", "exit 3", NULL);
    make_calls(1);
    expect_exit(child, 3);
}

static void fork_exec_mpi(void)
{
    const pid_t child = fork();
    if (child == 0)
        execl(mpi_program, mpi_program, NULL);
    make_calls(1);
    expect_exit(child, 0);
}

static void exec_mpi(void)
{
    make_calls(1);
    execl(mpi_program, mpi_program, NULL);
}

static void vfork_underscore_exit(void)
{
    const pid_t child = vfork();
    if (child == 0)
        _exit(3);
    make_calls(1);
    expect_exit(child, 3);
}

static void vfork_exec(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 3", NULL);
        _exit(127);
    }
    make_calls(1);
    expect_exit(child, 3);
}

static void vfork_exec_fails(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        execl("/nowhere", "nowhere", NULL);
        _exit(127);
    }
    make_calls(1);
    expect_exit(child, 127);
}

/* The child has our memory until it ends. */
static void vfork_signal(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        raise(SIGTERM);
        _exit(1);
    }
    make_calls(1);
    const int status = status_of(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void spawn(void)
{
    char* arguments[] = {"sh", "-c", "exit 3", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
    make_calls(1);
    expect_exit(child, 3);
}

static void open_pipe(void)
{
    char text[100] = "";
    FILE* pipe = popen("echo from a pipe", "r");
    CHECK(fgets(text, sizeof text, pipe) != NULL && strcmp(text, "from a pipe\n") == 0);
    CHECK(pclose(pipe) == 0);
    make_calls(1);
}

static void ask_shell(void)
{
    CHECK(WEXITSTATUS(system("exit 3")) == 3);
    make_calls(1);
}

static const struct way ways[] = {
    {"fork_exit", fork_exit},
    {"fork__exit", fork_underscore_exit},
    {"fork_signal", fork_signal},
    {"fork_exec", fork_exec},
    {"fork_exec_mpi", fork_exec_mpi},
    {"exec_mpi", exec_mpi},
    {"vfork__exit", vfork_underscore_exit},
    {"vfork_exec", vfork_exec},
    {"vfork_exec_fails", vfork_exec_fails},
    {"vfork_signal", vfork_signal},
    {"spawn", spawn},
    {"popen", open_pipe},
    {"system", ask_shell},
};

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    mpi_program = argv[2];
    GO(ways, argv[1]);
    MPI_Finalize();
    puts("finished");
    return 0;
}
