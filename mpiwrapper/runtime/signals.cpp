#include "mpiwrapper/runtime/signals.h"

#include "mpiwrapper/runtime/process.h"

#include <errno.h>
#include <signal.h>

namespace hdtrace::mpi {

namespace {

// All that end a process unless it does something about them.
constexpr int fatal_signals[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE, SIGUSR1, SIGSEGV,
    SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS,
};

struct sigaction previous_actions[NSIG];

bool is_default(const struct sigaction& action)
{
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

bool is_ignored(const struct sigaction& action)
{
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// The signal arrives again when this handler returns: a fault because its instruction is repeated, any other because
// it is sent again. So the exit status and the core dump are those of the program alone.
void end_as_without_us(int signal, const siginfo_t* info)
{
    sigaction(signal, &previous_actions[signal], nullptr);
    const bool is_repeated = info->si_code > 0 && signal != SIGABRT && signal != SIGTRAP && signal != SIGSYS;
    const bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    if (!is_repeated || !is_fault)
        raise(signal);
}

void save_and_go_on(int signal, siginfo_t* info, void* context)
{
    const int saved_errno = errno;
    save_all_threads();
    errno = saved_errno;
    const struct sigaction& previous = previous_actions[signal];
    if (is_default(previous))
        end_as_without_us(signal, info);
    else if ((previous.sa_flags & SA_SIGINFO) != 0)
        previous.sa_sigaction(signal, info, context);
    else
        previous.sa_handler(signal);
}

void watch(int signal)
{
    struct sigaction& previous = previous_actions[signal];
    if (sigaction(signal, nullptr, &previous) != 0 || is_ignored(previous))
        return;
    struct sigaction action = previous;
    action.sa_sigaction = save_and_go_on;
    action.sa_flags = (previous.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &action, nullptr);
}

} // namespace

void watch_fatal_signals()
{
    for (const int signal : fatal_signals)
        watch(signal);
}

} // namespace hdtrace::mpi
