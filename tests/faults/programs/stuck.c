/* stuck WAY: ends while the tracer writes to a file system that does not answer, or is interrupted. */
#include "prelude.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static pthread_t main_thread;
static atomic_int writes_of_others = 0;
static atomic_bool is_stuck = false, is_interrupted = false;

static void call(int number)
{
    (void)number;
    make_calls(1);
}

/* In place of the C library's, for the tracer. */
__attribute__((visibility("default"))) ssize_t pwritev(int file, const struct iovec* parts, int count,
                                                       off_t place)
{
    const int is_main = pthread_equal(pthread_self(), main_thread);
    while (!is_main && is_stuck) {
        ++writes_of_others;
        pause();
    }
    if (is_main && is_interrupted)
        pthread_kill(main_thread, SIGUSR1);
    return syscall(SYS_pwritev, file, parts, count, place, (off_t)0);
}

static void end_while_the_tracer_saves(void)
{
    is_stuck = true;
    make_calls(1);
    while (writes_of_others == 0)
        usleep(1000);
    syscall(SYS_tgkill, getpid(), gettid(), SIGTERM);
}

static void* raise_in_thread(void* unused)
{
    raise(SIGKILL);
    return unused;
}

/* Who calls meanwhile waits for the end. */
static void end_while_another_saves(void)
{
    pthread_t thread;
    is_stuck = true;
    CHECK(pthread_create(&thread, NULL, raise_in_thread, NULL) == 0);
    while (writes_of_others == 0)
        usleep(1000);
    make_calls(1);
    syscall(SYS_tgkill, getpid(), gettid(), SIGTERM);
}

/* The handler comes as soon as signals may. */
static void end_by_kill(void)
{
    signal(SIGUSR1, call);
    is_interrupted = true;
    kill(getpid(), SIGKILL);
}

static const struct way ways[] = {{"tracer_saves", end_while_the_tracer_saves},
                                  {"another_saves", end_while_another_saves},
                                  {"interrupted", end_by_kill}};

int main(int argc, char** argv)
{
    main_thread = pthread_self();
    begin_calls(&argc, &argv);
    GO(ways, argv[1]);
    return 97;
}
