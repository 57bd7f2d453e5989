#include "mpiwrapper/runtime/process/signals.h"

#include "mpiwrapper/runtime/library/export.h"
#include "mpiwrapper/runtime/library/next_function.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

// All that end a process unless it does something about them.
constexpr int fatal_signals[] = {
    SIGHUP,  SIGINT,  SIGQUIT, SIGILL,    SIGTRAP, SIGABRT, SIGBUS,    SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2,
    SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSYS,
};

struct sigaction previous_actions[NSIG];
bool is_watched[NSIG]; ///< ours stands before the previous one, unless the program has replaced it
void (*save_before_end)(int signal) = nullptr;
void (*save)(int signal) = nullptr;

struct NextFunctions {
    decltype(&::sigaction) sigaction;
    decltype(&::signal) signal, sysv_signal, sigset;
};

NextFunctions next;

__attribute__((constructor)) void find_next_signal_functions()
{
    find_next(next.signal, "signal");
    find_next(next.sysv_signal, "__sysv_signal");
    find_next(next.sigset, "sigset");
    find_next(next.sigaction, "sigaction");
}

// Other constructors may come before ours.
const NextFunctions& next_functions()
{
    if (next.sigaction == nullptr)
        find_next_signal_functions();
    return next;
}

void save_and_go_on(int signal, siginfo_t* info, void* context);
void go_on_behind_save(int signal, siginfo_t* info, void* context);
struct sigaction ours_before(int signal, const struct sigaction& previous);
struct sigaction ours_behind_save(const struct sigaction& previous);

bool is_ours(const struct sigaction& action)
{
    return (action.sa_flags & SA_SIGINFO) != 0 &&
           (action.sa_sigaction == save_and_go_on || action.sa_sigaction == go_on_behind_save);
}

// Of signal stacks; only what is used of them becomes memory.
constexpr size_t smallest_stack = 256 * 1024;
constexpr size_t largest_stack = 1024 * 1024; // the program's addresses may be limited
constexpr size_t page = 64 * 1024;            // or several, on any processor

bool is_default(const struct sigaction& action)
{
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

bool is_ignored(const struct sigaction& action)
{
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// These come from what the thread itself does, and come again when it does it again.
bool is_fault(int signal, const siginfo_t* info)
{
    const bool is_from_kernel = info->si_code > 0;
    return is_from_kernel && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

// A fault arrives again when our handler returns, because its instruction is repeated; any other signal
// because it is sent again, with all that is said of it.
void let_come_again(int signal, const siginfo_t* info)
{
    if (!is_fault(signal, info) &&
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info) != 0)
        raise(signal);
}

// Another thread of the program may have set another action meanwhile.
void replace_ours(int signal, const struct sigaction& action)
{
    struct sigaction replaced;
    if (next_functions().sigaction(signal, &action, &replaced) == 0 && !is_ours(replaced))
        next_functions().sigaction(signal, &replaced, nullptr);
}

// So all is as it would be without us, the exit status and the core dump included.
void leave_to_default(int signal, const siginfo_t* info)
{
    is_watched[signal] = false;
    replace_ours(signal, previous_actions[signal]);
    let_come_again(signal, info);
}

// Handlers of MPI libraries tell where such a signal came from, and end the process then.
bool says_that_program_is_wrong(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
}

// A stack that overflows is a segmentation fault or a bus error.
bool can_be_stack_overflow(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS;
}

// Whether we take the signal on another stack than the program's own handler would have it on.
bool changes_stack(int signal, const struct sigaction& previous)
{
    return can_be_stack_overflow(signal) && (previous.sa_flags & SA_ONSTACK) == 0;
}

// Programs that protect pages to hear who writes there go on after thousands of faults. What is not saved
// before each of them is saved where a handler gives up: it calls a function that ends the process, and
// saves, or sets another action (note_replaced()).
class Faults {
  public:
    /// Counts one. Whether too many came lately to save before it.
    bool are_many_with_this()
    {
        const int64_t now = time();
        if (now - __atomic_load_n(&m_begin, __ATOMIC_RELAXED) >= interval) {
            __atomic_store_n(&m_begin, now, __ATOMIC_RELAXED);
            __atomic_store_n(&m_count, 0, __ATOMIC_RELAXED);
        }
        return __atomic_add_fetch(&m_count, 1, __ATOMIC_RELAXED) > most_saved;
    }
    bool are_many() const { return __atomic_load_n(&m_count, __ATOMIC_RELAXED) > most_saved; }
    /// Whether to tell of one that may go on: the .info shall not grow by all of them.
    bool is_to_be_told()
    {
        const int64_t now = time();
        if (now - __atomic_load_n(&m_told, __ATOMIC_RELAXED) < interval_of_telling)
            return false;
        __atomic_store_n(&m_told, now, __ATOMIC_RELAXED);
        return true;
    }
    void leave_to_handler() { __atomic_store_n(&m_is_left, true, __ATOMIC_RELAXED); }
    /// Whether one was left to a handler since the last time.
    bool take_left() { return __atomic_exchange_n(&m_is_left, false, __ATOMIC_RELAXED); }

  private:
    static constexpr int64_t second = 1'000'000'000;
    static constexpr int64_t interval = second / 10;
    static constexpr int most_saved = 16; // in it
    static constexpr int64_t interval_of_telling = 10 * second;

    static int64_t time()
    {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        return now.tv_sec * second + now.tv_nsec;
    }

    int64_t m_begin = -interval; ///< of the interval in which they are counted
    int64_t m_told = -interval_of_telling;
    int m_count = 0;
    bool m_is_left = false;
};

Faults faults[NSIG];

// Where the handler is for one time, nothing of ours comes before the next fault.
bool is_one_of_many(int signal, const siginfo_t* info)
{
    return is_fault(signal, info) && (previous_actions[signal].sa_flags & SA_RESETHAND) == 0 &&
           faults[signal].are_many_with_this();
}

void save_before_handler(int signal)
{
    save(says_that_program_is_wrong(signal) && faults[signal].is_to_be_told() ? signal : 0);
}

[[gnu::noinline]] void come_again_on_own_stack(int signal, const siginfo_t* info)
{
    replace_ours(signal, ours_behind_save(previous_actions[signal]));
    let_come_again(signal, info);
}

[[gnu::noinline]] void put_back(int signal)
{
    replace_ours(signal, ours_before(signal, previous_actions[signal]));
}

// The last that its callers do, so that handlers which show the stack find none of us there.
void call_previous(int signal, siginfo_t* info, void* context)
{
    const struct sigaction& previous = previous_actions[signal];
    faults[signal].leave_to_handler();
    if ((previous.sa_flags & SA_RESETHAND) != 0)
        next_functions().signal(signal, SIG_DFL);
    if ((previous.sa_flags & SA_SIGINFO) != 0)
        previous.sa_sigaction(signal, info, context);
    else
        previous.sa_handler(signal);
}

void save_and_go_on(int signal, siginfo_t* info, void* context)
{
    const int saved_errno = errno;
    const struct sigaction& previous = previous_actions[signal];
    if (is_default(previous)) {
        save_before_end(signal);
        leave_to_default(signal, info);
        errno = saved_errno;
        return;
    }
    const bool has_other_stack = changes_stack(signal, previous); // on which there may be no room any more
    if (!is_one_of_many(signal, info) || has_other_stack)
        save_before_handler(signal);
    if (has_other_stack)
        come_again_on_own_stack(signal, info);
    errno = saved_errno;
    if (!has_other_stack)
        call_previous(signal, info, context);
}

// Behind save_and_go_on(), which is put back at once, or when no more faults come so often that it would have
// each of them come twice.
void go_on_behind_save(int signal, siginfo_t* info, void* context)
{
    const int saved_errno = errno;
    const bool is_saved = !faults[signal].are_many();
    const bool is_behind_many = !is_saved && !is_one_of_many(signal, info);
    if (is_behind_many)
        save_before_handler(signal);
    if (is_saved || is_behind_many)
        put_back(signal);
    errno = saved_errno;
    call_previous(signal, info, context);
}

struct sigaction ours_behind_save(const struct sigaction& previous)
{
    struct sigaction action = previous;
    action.sa_sigaction = go_on_behind_save;
    action.sa_flags = (previous.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    return action;
}

struct sigaction ours_before(int signal, const struct sigaction& previous)
{
    struct sigaction action = ours_behind_save(previous);
    action.sa_sigaction = save_and_go_on;
    if (can_be_stack_overflow(signal))
        action.sa_flags |= SA_ONSTACK;
    return action;
}

// Timers and such, whose handlers go on; one that ends the program does so by functions that save, too.
bool is_of_timers(int signal)
{
    return signal >= SIGRTMIN || signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF ||
           signal == SIGIO;
}

// To the first process, as in a container, nothing is sent that has no handler; only its own faults end it.
bool is_without_effect(int signal)
{
    return getpid() == 1 && !says_that_program_is_wrong(signal);
}

void watch(int signal)
{
    struct sigaction& previous = previous_actions[signal];
    if (sigaction(signal, nullptr, &previous) != 0 || is_ignored(previous) ||
        (is_of_timers(signal) && !is_default(previous)) ||
        (is_default(previous) && is_without_effect(signal)))
        return;
    const struct sigaction action = ours_before(signal, previous);
    is_watched[signal] = sigaction(signal, &action, nullptr) == 0;
}

// What the program would find without us: siginterrupt() changes ours, and no function of ours hears of it.
struct sigaction action_behind(int signal, const struct sigaction& ours)
{
    struct sigaction action = previous_actions[signal];
    action.sa_mask = ours.sa_mask;
    action.sa_flags = (action.sa_flags & ~SA_RESTART) | (ours.sa_flags & SA_RESTART);
    return action;
}

// Whether the program sets what it would find behind ours, as those do who put back what they found.
bool is_behind_ours(int signal, const struct sigaction& action)
{
    constexpr int restorer = 0x04000000; // SA_RESTORER, of which the C library tells on some processors
    if (signal <= 0 || signal >= NSIG || !is_watched[signal])
        return false;
    const struct sigaction& previous = previous_actions[signal];
    return is_default(previous)
               ? is_default(action)
               : ((previous.sa_flags ^ action.sa_flags) & ~restorer) == 0 &&
                     ((action.sa_flags & SA_SIGINFO) != 0 ? previous.sa_sigaction == action.sa_sigaction
                                                          : previous.sa_handler == action.sa_handler);
}

// The handler that a fault was left to may have given up: nothing of ours hears of the next one.
void note_replaced(int signal)
{
    const bool is_valid = signal > 0 && signal < NSIG;
    if (is_valid && is_watched[signal] && faults[signal].take_left())
        save(signal);
}

// What a function like signal() has set and answered, as if ours were not there.
sighandler_t answered(int signal, sighandler_t handler)
{
    struct sigaction set;
    if (next.sigaction(signal, nullptr, &set) != 0)
        return handler;
    const struct sigaction ours = ours_before(signal, set);
    if (is_behind_ours(signal, set))
        next.sigaction(signal, &ours, nullptr);
    else
        note_replaced(signal);
    const bool was_ours = handler == ours.sa_handler || handler == ours_behind_save(set).sa_handler;
    return was_ours ? previous_actions[signal].sa_handler : handler;
}

// Whoever goes below it gets a segmentation fault, as on other stacks.
SignalStack map_stack(size_t size)
{
    const size_t all = (size + page - 1) / page * page + page;
    void* const memory =
        mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return {};
    if (mprotect(static_cast<char*>(memory) + page, all - page, PROT_READ | PROT_WRITE) == 0)
        return {memory, all};
    munmap(memory, all);
    return {};
}

} // namespace

void watch_fatal_signals(void (*before_end)(int signal), void (*before_handler)(int signal))
{
    save_before_end = before_end;
    save = before_handler;
    for (const int signal : fatal_signals)
        watch(signal);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) // those that the C library leaves to programs
        watch(signal);
}

SignalStack provide_signal_stack(size_t size)
{
    stack_t current;
    if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0)
        return {};
    SignalStack stack = map_stack(size < smallest_stack  ? smallest_stack
                                  : size > largest_stack ? largest_stack
                                                         : size);
    if (stack.memory == nullptr)
        stack = map_stack(smallest_stack);
    if (stack.memory == nullptr)
        return {};
    const stack_t own = {static_cast<char*>(stack.memory) + page, 0, stack.size - page};
    sigaltstack(&own, nullptr);
    return stack;
}

void take_back_signal_stack(const SignalStack& stack)
{
    stack_t current;
    if (stack.memory == nullptr || sigaltstack(nullptr, &current) != 0 ||
        (current.ss_flags & SS_ONSTACK) != 0)
        return;
    if (current.ss_sp == static_cast<char*>(stack.memory) + page) {
        const stack_t none = {nullptr, SS_DISABLE, 0};
        sigaltstack(&none, nullptr);
    }
    munmap(stack.memory, stack.size);
}

} // namespace hdtrace::mpi

// Who asks what happens at a signal is told what would happen without us: programs do something else where
// they find a handler. Who sets what stands behind ours leaves ours where it is.
extern "C" HDT_EXPORT int sigaction(int signal, const struct sigaction* action,
                                    struct sigaction* previous) noexcept
{
    using namespace hdtrace::mpi;
    struct sigaction ours;
    if (action != nullptr && is_behind_ours(signal, *action)) {
        ours = ours_before(signal, *action);
        action = &ours;
    } else if (action != nullptr) {
        note_replaced(signal);
    }
    const int result = next_functions().sigaction(signal, action, previous);
    if (result == 0 && previous != nullptr && is_ours(*previous))
        *previous = action_behind(signal, *previous);
    return result;
}

extern "C" HDT_EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept
{
    using namespace hdtrace::mpi;
    return answered(signal, next_functions().signal(signal, handler));
}

// Its older names.
extern "C" HDT_EXPORT sighandler_t ssignal(int number, sighandler_t handler) noexcept
{
    return signal(number, handler);
}

extern "C" HDT_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept
{
    return signal(number, handler);
}

extern "C" HDT_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept
{
    using namespace hdtrace::mpi;
    return answered(signal, next_functions().sysv_signal(signal, handler));
}

extern "C" HDT_EXPORT sighandler_t sigset(int signal, sighandler_t handler) noexcept
{
    using namespace hdtrace::mpi;
    return answered(signal, next_functions().sigset(signal, handler));
}
