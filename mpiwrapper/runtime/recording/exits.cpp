// Functions that end the program without its destructors, or put another in its place: what was recorded goes
// to the files first. So it does before a signal that the program sends itself and that nothing will catch.
// They may be called in signal handlers and in children of vfork().
#include "mpiwrapper/runtime/library/export.h"
#include "mpiwrapper/runtime/library/next_function.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace hdtrace::mpi;

namespace {

struct NextFunctions {
    decltype(&::_exit) _exit;
    decltype(&::execv) execv;
    decltype(&::execve) execve;
    decltype(&::execvp) execvp;
    decltype(&::execvpe) execvpe;
    int (*execveat)(int, const char*, char* const*, char* const*, int); ///< since glibc 2.34
    decltype(&::fexecve) fexecve;
    decltype(&::daemon) daemon;
    decltype(&::raise) raise;
    decltype(&::kill) kill;
    decltype(&::sigaction) sigaction; ///< tells of our handlers, too
};

NextFunctions next;

__attribute__((constructor)) void find_next_functions()
{
    find_next(next._exit, "_exit");
    find_next(next.execv, "execv");
    find_next(next.execve, "execve");
    find_next(next.execvp, "execvp");
    find_next(next.execvpe, "execvpe");
    find_next(next.execveat, "execveat");
    find_next(next.daemon, "daemon");
    find_next(next.raise, "raise");
    find_next(next.kill, "kill");
    find_next(next.sigaction, "sigaction");
    find_next(next.fexecve, "fexecve");
}

// Other constructors may come before ours.
const NextFunctions& next_functions()
{
    if (next.fexecve == nullptr)
        find_next_functions();
    return next;
}

[[noreturn]] void end_process(int status)
{
    stop_at_exit();
    next_functions()._exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

// Unless the program does something about it (POSIX.1-2017, signal.h).
bool ends_by_default(int signal)
{
    switch (signal) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case SIGCONT:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return false;
    default:
        return true;
    }
}

// Handlers that the program installed after MPI_Init have replaced ours, and often end by sending the signal
// again.
bool may_be_fatal(int signal)
{
    struct sigaction action;
    return signal == SIGKILL ||
           (ends_by_default(signal) && next_functions().sigaction(signal, nullptr, &action) == 0 &&
            (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL);
}

// Others than SIGKILL may be blocked, and the process goes on.
void save_before(int signal)
{
    if (signal == SIGKILL)
        save_before_end(signal);
    else
        save_before_signal(signal);
}

// As the argument of kill(): the process itself, its group, or all.
bool means_us(pid_t process)
{
    return process == getpid() || process == 0 || process == -1 || process == -getpgrp();
}

int count_arguments(va_list& arguments)
{
    va_list copy;
    va_copy(copy, arguments);
    int count = 1;
    while (va_arg(copy, char*) != nullptr)
        ++count;
    va_end(copy);
    return count;
}

// Calls execute(argv) with the arguments as a vector. Memory for it can only be had from the stack.
template <typename Execute> int with_vector(const char* first, va_list& arguments, Execute execute)
{
    const int count = count_arguments(arguments);
    char** const argv =
        static_cast<char**>(__builtin_alloca(sizeof(char*) * (static_cast<size_t>(count) + 1)));
    argv[0] = const_cast<char*>(first);
    for (int i = 1; i <= count; ++i) // the null pointer included
        argv[i] = va_arg(arguments, char*);
    return execute(argv);
}

} // namespace

extern "C" HDT_EXPORT __attribute__((noreturn)) void _exit(int status)
{
    end_process(status);
}

extern "C" HDT_EXPORT __attribute__((noreturn)) void _Exit(int status) noexcept
{
    end_process(status);
}

extern "C" HDT_EXPORT int execv(const char* path, char* const argv[]) noexcept
{
    save_all_threads();
    return next_functions().execv(path, argv);
}

extern "C" HDT_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) noexcept
{
    save_all_threads();
    return next_functions().execve(path, argv, envp);
}

extern "C" HDT_EXPORT int execvp(const char* file, char* const argv[]) noexcept
{
    save_all_threads();
    return next_functions().execvp(file, argv);
}

extern "C" HDT_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept
{
    save_all_threads();
    return next_functions().execvpe(file, argv, envp);
}

extern "C" HDT_EXPORT int fexecve(int descriptor, char* const argv[], char* const envp[]) noexcept
{
    save_all_threads();
    return next_functions().fexecve(descriptor, argv, envp);
}

extern "C" HDT_EXPORT int execveat(int directory, const char* path, char* const argv[], char* const envp[],
                                   int flags) noexcept
{
    save_all_threads();
    const auto execute = next_functions().execveat;
    return execute != nullptr ? execute(directory, path, argv, envp, flags)
                              : static_cast<int>(syscall(SYS_execveat, directory, path, argv, envp, flags));
}

// The process ends in it, and its child goes on.
extern "C" HDT_EXPORT int daemon(int stays, int keeps_streams) noexcept
{
    save_all_threads();
    return next_functions().daemon(stays, keeps_streams);
}

extern "C" HDT_EXPORT int execl(const char* path, const char* argument, ...) noexcept
{
    va_list arguments;
    va_start(arguments, argument);
    const int result = with_vector(argument, arguments, [&](char** argv) { return execv(path, argv); });
    va_end(arguments);
    return result;
}

extern "C" HDT_EXPORT int execlp(const char* file, const char* argument, ...) noexcept
{
    va_list arguments;
    va_start(arguments, argument);
    const int result = with_vector(argument, arguments, [&](char** argv) { return execvp(file, argv); });
    va_end(arguments);
    return result;
}

extern "C" HDT_EXPORT int execle(const char* path, const char* argument, ...) noexcept
{
    va_list arguments;
    va_start(arguments, argument);
    const int result = with_vector(
        argument, arguments, [&](char** argv) { return execve(path, argv, va_arg(arguments, char**)); });
    va_end(arguments);
    return result;
}

extern "C" HDT_EXPORT int raise(int signal) noexcept
{
    if (may_be_fatal(signal))
        save_before(signal);
    return next_functions().raise(signal);
}

extern "C" HDT_EXPORT int kill(pid_t process, int signal) noexcept
{
    if (means_us(process) && may_be_fatal(signal))
        save_before(signal);
    return next_functions().kill(process, signal);
}
