/* A signal handler marks its moments, whatever it interrupts: the program, the tracer, or the MPI library. */
#include "../check.h"

#include <errno.h>
#include <hdRegion.h>
#include <signal.h>
#include <sys/time.h>

static hdRegion step = HD_REGION("step");
static hdRegion tick = HD_REGION("tick");
static hdRegion in_handler = HD_REGION("in handler");
static volatile sig_atomic_t recorded, refused, wrong;

static void count(int error)
{
    if (error == 0)
        ++recorded;
    else if (error == HD_ERR_BUSY)
        ++refused;
    else
        ++wrong;
}

static void on_tick(int signal)
{
    (void)signal;
    const int saved_errno = errno;
    const int error = hdR_begin(&in_handler);
    count(hdR_mark(&tick, "a text"));
    if (error == 0)
        count(hdR_end(&in_handler));
    errno = saved_errno;
}

int main(int argc, char** argv)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigset_t ticks;
    int value;

    sigemptyset(&ticks);
    sigaddset(&ticks, SIGALRM);
    sigprocmask(SIG_BLOCK, &ticks, NULL); /* the MPI library's threads shall have none */
    begin(&argc, &argv);
    hdR_begin(&in_handler); /* defines it */
    hdR_mark(&tick, NULL);
    hdR_end(&in_handler);
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &ticks, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000; ++i) {
        CHECK(hdR_begin(&step) == 0);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
        CHECK(hdR_end(&step) == 0);
        /* Handlers that interrupt this record something. */
        for (volatile int work = 0; work < 200; ++work)
            ;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(recorded > 0 && wrong == 0);
    printf("%d recorded, %d refused\n", (int)recorded, (int)refused);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
