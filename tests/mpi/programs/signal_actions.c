/* What the program is told of the actions that it finds at signals after MPI_Init, and what becomes of those
 * that it sets. With an argument it ends by a signal. */
#include "check.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

static const char* name_of(void (*handler)(int))
{
    return handler == SIG_DFL   ? "default"
           : handler == SIG_IGN ? "ignored"
           : handler == handle  ? "own"
                                : "other";
}

static void ask(int signal)
{
    struct sigaction found;
    sigaction(signal, NULL, &found);
    printf("%s%s ", name_of(found.sa_handler), (found.sa_flags & SA_SIGINFO) ? "!" : "");
}

/* One that nobody handles, and that ends nobody. */
static void raise_and_take(int signal)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    raise(signal);
    sigwait(&signals, &signal);
}

int main(int argc, char** argv)
{
    struct sigaction found, own;
    signal(SIGALRM, handle);
    signal(SIGUSR2, SIG_IGN);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) /* launchers mix what several write without line breaks */
        CHECK(freopen("/dev/null", "w", stdout) != NULL);
    ask(SIGINT);
    ask(SIGALRM);
    ask(SIGUSR2);
    memset(&own, 0, sizeof own);
    own.sa_handler = handle;
    sigaction(SIGTERM, &own, &found);
    printf("%s ", name_of(found.sa_handler));
    ask(SIGTERM);
    sigaction(SIGTERM, &found, NULL);
    ask(SIGTERM);
    printf("%s ", name_of(signal(SIGXCPU, handle)));
    raise(SIGXCPU);
    printf("%d %s ", handled == SIGXCPU, name_of(signal(SIGXCPU, SIG_DFL)));
    printf("%s ", name_of(signal(SIGALRM, SIG_DFL)));
    ask(SIGALRM);
    fflush(stdout);
    raise_and_take(SIGQUIT);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        raise(SIGTERM);
    }
    MPI_Finalize();
    return 0;
}
