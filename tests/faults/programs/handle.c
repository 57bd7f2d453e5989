/* handle WAY: the program's own signal handlers. What they see and do is the same with and without the
 * tracer. */
#include "prelude.h"

#include <hdRegion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static sigjmp_buf way_out;
static volatile sig_atomic_t seen = 0;
static volatile sig_atomic_t was_on_other_stack = 0;

static void note(int signal)
{
    stack_t stack;
    sigaltstack(NULL, &stack);
    was_on_other_stack = (stack.ss_flags & SS_ONSTACK) != 0;
    seen = signal;
}

static void leave(int signal)
{
    note(signal);
    siglongjmp(way_out, 1);
}

/* Needs more than the smallest stack of the thread's handlers. */
static void need_much(int signal)
{
    volatile char frame[400 * 1024];
    for (size_t i = 0; i < sizeof frame; i += 1024)
        frame[i] = (char)signal;
    seen = frame[sizeof frame - 1024];
}

static void* raise_in_thread(void* number)
{
    make_calls(1);
    raise(*(int*)number);
    return NULL;
}

/* What sigqueue() sends. */
static void note_value(int signal, siginfo_t* info, void* context)
{
    (void)context;
    if (info->si_code == SI_QUEUE && info->si_pid == getpid() && info->si_value.sival_int == 4711)
        seen = signal;
}

static void end(int signal)
{
    (void)signal;
    _exit(5);
}

/* As most handlers do that only want to say or delete something first. */
static void end_by_default(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void send_again(int number)
{
    raise(number);
}

/* As if another process sent it. */
static void be_sent(int number)
{
    syscall(SYS_tgkill, getpid(), gettid(), number);
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, NULL);
}

static void handle_with_info(int signal, void (*handler)(int, siginfo_t*, void*), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, NULL);
}

static char* guarded;
static volatile sig_atomic_t faults = 0;

/* Memory that is protected to hear who writes there. */
static void guard(void)
{
    CHECK(mprotect(guarded, 1, PROT_NONE) == 0);
}

/* Gives up at any other fault. */
static void unprotect(int number, siginfo_t* info, void* context)
{
    (void)context;
    ++faults;
    if (info->si_addr != guarded)
        signal(number, SIG_DFL);
    else
        mprotect(guarded, 1, PROT_READ | PROT_WRITE);
}

static void prepare_guard(int flags)
{
    guarded = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded != MAP_FAILED);
    handle_with_info(SIGSEGV, unprotect, flags);
}

static long count_writes(void)
{
    long count = 0;
    char line[100];
    FILE* const file = fopen("/proc/self/io", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "syscw: %ld", &count);
    fclose(file);
    return count;
}

static void write_guarded(int times)
{
    const long before = count_writes();
    for (int i = 0; i < times; ++i) {
        guard();
        *guarded = 1;
        make_calls(1);
    }
    CHECK(faults == times);
    CHECK(times == 1 || count_writes() - before < times / 2);
    make_calls(7);
    *(volatile int*)NULL = 1;
}

/* As it was asked for in several ways. */
static void change_handler(void)
{
    struct sigaction action;
    sigaction(SIGUSR2, NULL, &action);
    CHECK(action.sa_handler == note && !sigismember(&action.sa_mask, SIGTERM));
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGUSR2, &action, NULL);
    siginterrupt(SIGUSR2, 0);
    sigaction(SIGUSR2, NULL, &action);
    CHECK(action.sa_handler == note && sigismember(&action.sa_mask, SIGTERM));
    CHECK((action.sa_flags & SA_RESTART) != 0);
    CHECK(ssignal(SIGQUIT, SIG_IGN) == SIG_DFL && ssignal(SIGQUIT, SIG_DFL) == SIG_IGN);
}

/* The helper leads a process group. */
static void end_helper(void)
{
    const pid_t helper = fork();
    CHECK(helper >= 0);
    if (helper == 0) {
        setpgid(0, 0);
        for (;;)
            pause();
    }
    CHECK(setpgid(helper, helper) == 0 && kill(-helper, SIGKILL) == 0);
    CHECK(waitpid(helper, NULL, 0) == helper);
}

static hdRegion mark = HD_REGION("mark");

static void leave_event(void)
{
    const char* const nowhere = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, leave, 0);
    if (sigsetjmp(way_out, 1) == 0)
        hdR_mark(&mark, nowhere);
    CHECK(seen == SIGSEGV);
    CHECK(hdR_mark(&mark, NULL) == 0);
    make_calls(1);
}

/* Threads of the MPI library shall have none. */
static void set_mask_of_alarms(int how)
{
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(how, &alarms, NULL);
}

/* Wherever an event is just then. */
static void leave_events(void)
{
    const struct itimerval soon = {{0, 0}, {0, 20}};
    volatile int left = 0;
    handle(SIGALRM, leave, 0);
    set_mask_of_alarms(SIG_UNBLOCK);
    while (left < 300) {
        if (sigsetjmp(way_out, 1) == 0) {
            setitimer(ITIMER_REAL, &soon, NULL);
            for (;;)
                hdR_mark(&mark, "a text");
        }
        ++left;
        CHECK(hdR_mark(&mark, NULL) == 0);
    }
    make_calls(1);
}

/* These are installed before MPI_Init, and so before the tracer's. */
static void prepare(const char* way)
{
    if (strcmp(way, "returns") == 0 || strcmp(way, "changes") == 0)
        handle(SIGUSR2, note, 0);
    else if (strcmp(way, "value") == 0)
        handle_with_info(SIGBUS, note_value, 0);
    else if (strncmp(way, "guards", strlen("guards")) == 0)
        prepare_guard(strstr(way, "on_stack") != NULL ? SA_ONSTACK : 0);
    else if (strcmp(way, "recovers") == 0)
        handle(SIGSEGV, leave, 0);
    else if (strcmp(way, "once") == 0)
        handle(SIGUSR2, note, SA_RESETHAND);
    else if (strcmp(way, "ignores") == 0)
        signal(SIGUSR2, SIG_IGN);
    else if (strcmp(way, "timer") == 0)
        handle(SIGPROF, note, 0);
    else if (strcmp(way, "leaves_events") == 0)
        set_mask_of_alarms(SIG_BLOCK);
}

static void run(const char* way)
{
    if (strcmp(way, "recovers") == 0) {
        for (int i = 0; i < 3; ++i) {
            if (sigsetjmp(way_out, 1) == 0)
                *(volatile int*)NULL = 1;
            CHECK(seen == SIGSEGV && !was_on_other_stack);
            make_calls(1);
        }
    } else if (strcmp(way, "returns") == 0) {
        raise(SIGUSR2);
        CHECK(seen == SIGUSR2 && !was_on_other_stack);
        make_calls(1);
    } else if (strcmp(way, "changes") == 0) {
        change_handler();
        raise(SIGUSR2);
        CHECK(seen == SIGUSR2);
        make_calls(1);
    } else if (strcmp(way, "value") == 0) {
        const union sigval value = {.sival_int = 4711};
        CHECK(sigqueue(getpid(), SIGBUS, value) == 0);
        CHECK(seen == SIGBUS);
        make_calls(1);
    } else if (strncmp(way, "guards", strlen("guards")) == 0) {
        write_guarded(strstr(way, "often") != NULL ? 1000 : 1);
    } else if (strcmp(way, "once") == 0) {
        raise(SIGUSR2);
        CHECK(seen == SIGUSR2);
        raise(SIGUSR2);
    } else if (strcmp(way, "ignores") == 0) {
        raise(SIGUSR2);
        make_calls(1);
    } else if (strcmp(way, "timer") == 0) {
        be_sent(SIGPROF);
        CHECK(seen == SIGPROF);
        syscall(SYS_exit_group, 0);
    } else if (strcmp(way, "needs_much") == 0) {
        int number = SIGUSR2;
        pthread_t thread;
        handle(number, need_much, SA_ONSTACK);
        CHECK(pthread_create(&thread, NULL, raise_in_thread, &number) == 0);
        pthread_join(thread, NULL);
        CHECK(seen == SIGUSR2);
    } else if (strcmp(way, "leaves_event") == 0) {
        leave_event();
    } else if (strcmp(way, "leaves_events") == 0) {
        leave_events();
    } else if (strcmp(way, "harmless") == 0) {
        raise(SIGWINCH);
        kill(getpid(), SIGCONT);
        end_helper();
    } else if (strcmp(way, "later") == 0) {
        handle(SIGSEGV, end, 0);
        *(volatile int*)NULL = 1;
    } else if (strcmp(way, "sends_again") == 0) {
        handle(SIGTERM, end_by_default, 0);
        be_sent(SIGTERM);
    } else if (strcmp(way, "sends_again_once") == 0) {
        handle(SIGTERM, send_again, SA_RESETHAND);
        be_sent(SIGTERM);
    } else if (strcmp(way, "default") == 0) {
        signal(SIGTERM, SIG_DFL);
        puts("default");
        fflush(stdout);
        pause();
    }
}

int main(int argc, char** argv)
{
    prepare(argv[1]);
    begin_calls(&argc, &argv);
    run(argv[1]);
    MPI_Finalize();
    puts("finished");
    return 0;
}
