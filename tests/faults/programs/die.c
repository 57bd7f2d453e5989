/* die WAY: ends in the way that is wanted, without MPI_Finalize. */
#include "prelude.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static volatile int zero = 0;

/* As if another process sent it. */
static void be_sent(int number)
{
    syscall(SYS_tgkill, getpid(), gettid(), number);
}

static void end_by_exit(void)
{
    exit(7);
}
static void end_by_underscore_exit(void)
{
    _exit(7);
}
static void end_by_capital_exit(void)
{
    _Exit(7);
}
static void end_by_quick_exit(void)
{
    quick_exit(7);
}
static void end_by_system_call(void)
{
    syscall(SYS_exit_group, 7);
}
static void end_by_raise(void)
{
    raise(SIGKILL);
}
static void end_by_kill(void)
{
    kill(getpid(), SIGKILL);
}
static void end_by_abort(void)
{
    abort();
}
static void read_null(void)
{
    *(volatile int*)NULL = 1;
}
static void divide(void)
{
    zero = 5 / zero;
}

static int fill_stack(int depth)
{
    volatile char room[256]; /* less than the page that guards a stack */
    room[0] = (char)depth;
    return fill_stack(depth + 1) + room[0];
}

static void overflow(void)
{
    zero = fill_stack(0);
}

static void* overflow_thread(void* unused)
{
    make_calls(1);
    overflow();
    return unused;
}

static void overflow_in_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, overflow_thread, NULL) == 0);
    pthread_join(thread, NULL);
}

static void touch_behind_file(void)
{
    FILE* file = tmpfile();
    volatile char* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    *memory = 1;
}

static void receive(void)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void terminate(void* in, void* out, int* count, MPI_Datatype* type)
{
    int size;
    (void)in, (void)out, (void)count;
    MPI_Type_size(*type, &size);
    be_sent(SIGTERM);
}

static void die_in_a_call(void)
{
    be_in_a_call(terminate);
}

/* Nobody ends it. */
static void compute_for_ever(void)
{
    puts("computing");
    fflush(stdout);
    for (;;)
        pause();
}

static void wait_for_ever(void)
{
    fputs("waiting\n",
          stdout); // at once, also where MPICH has taken the stream's buffer away: other ranks say it too
    fflush(stdout);
    receive();
}

static void call_for_ever(void)
{
    puts("calling");
    fflush(stdout);
    for (;;)
        make_calls(1000);
}

static void fail_fatally(void)
{
    MPI_Send((void*)&zero, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

static char* arguments[] = {"echo", "one", "two", NULL};

static void end_by_execl(void)
{
    execl("/bin/echo", "echo", "one", "two", NULL);
}
static void end_by_execlp(void)
{
    execlp("echo", "echo", "one", "two", NULL);
}
static void end_by_execle(void)
{
    char* environment[] = {"A=B", NULL};
    execle("/bin/echo", "echo", "one", "two", NULL, environment);
}
static void end_by_execv(void)
{
    execv("/bin/echo", arguments);
}
static void end_by_execve(void)
{
    execve("/bin/echo", arguments, environ);
}
static void end_by_execvp(void)
{
    execvp("echo", arguments);
}
static void end_by_execvpe(void)
{
    execvpe("echo", arguments, environ);
}
static void end_by_execveat(void)
{
    execveat(-1, "/bin/echo", arguments, environ, 0);
}
static void end_by_daemon(void)
{
    CHECK(daemon(1, 1) == 0);
    _exit(0); /* the child, for which nobody waits */
}

static void fail_to_exec(void)
{
    CHECK(execl("/nowhere", "nowhere", NULL) == -1);
    make_calls(1);
    _exit(7);
}

static const struct way ways[] = {
    {"exit", end_by_exit},
    {"_exit", end_by_underscore_exit},
    {"_Exit", end_by_capital_exit},
    {"quick_exit", end_by_quick_exit},
    {"system_call", end_by_system_call},
    {"raise", end_by_raise},
    {"kill", end_by_kill},
    {"abort", end_by_abort},
    {"null", read_null},
    {"divide", divide},
    {"overflow", overflow},
    {"overflow_in_thread", overflow_in_thread},
    {"bus", touch_behind_file},
    {"in_a_call", die_in_a_call},
    {"compute", compute_for_ever},
    {"wait", wait_for_ever},
    {"call", call_for_ever},
    {"fatal", fail_fatally},
    {"execl", end_by_execl},
    {"execlp", end_by_execlp},
    {"execle", end_by_execle},
    {"execv", end_by_execv},
    {"execve", end_by_execve},
    {"execvp", end_by_execvp},
    {"execvpe", end_by_execvpe},
    {"execveat", end_by_execveat},
    {"exec_fails", fail_to_exec},
    {"daemon", end_by_daemon},
};

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    const int number = atoi(argv[1]);
    if (number > 0)
        be_sent(number);
    else
        GO(ways, argv[1]);
    return 97;
}
