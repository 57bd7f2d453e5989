/* Threads with names that live one after the other, as many as the first argument says. If there is one,
 * prints the numbers that the system gave them, and the processor time that the process had used at its begin
 * and at its end. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool talks;

static void say_used(const char* when)
{
    struct rusage used;
    if (!talks) {
        return;
    }
    getrusage(RUSAGE_SELF, &used);
    printf("%s %lld\n", when,
           (long long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
               used.ru_stime.tv_usec);
}

static void be_busy(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 10;
    while (clock() < end) {
    }
}

static void* live(void* number)
{
    char name[16];
    const int mine = *(int*)number;
    snprintf(name, sizeof name, "worker'%d", mine);
    MPI_Sendrecv(NULL, 0, MPI_INT, 0, mine, NULL, 0, MPI_INT, 0, mine, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_setname_np(pthread_self(), name);
    if (talks) {
        printf("thread %d\n", (int)gettid());
    }
    return NULL;
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    int provided;

    talks = argc > 1;
    say_used("before");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    say_used("begun");
    be_busy();
    for (int i = 0; i < count; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, live, &i) == 0);
        pthread_join(thread, NULL);
    }
    pthread_setname_np(pthread_self(), "main one");
    say_used("ending");
    MPI_Finalize();
    say_used("ended");
    return 0;
}
