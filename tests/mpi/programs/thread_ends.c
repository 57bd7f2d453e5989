/* Threads whose last calls are in destructors of a key, each of which is called as often as the first
 * argument says. If that is 0, one that is to be cancelled, as soon as it may be, before its first call. */
#include "check.h"

#include <pthread.h>

static pthread_key_t key;
static int rounds;

static void send_nothing(void)
{
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void destroy(void* round)
{
    const long done = (long)round;
    send_nothing();
    if (done < rounds) {
        pthread_setspecific(key, (void*)(done + 1));
    }
}

static void* live(void* unused)
{
    pthread_setspecific(key, (void*)1L);
    return unused;
}

static void* be_cancelled(void* result)
{
    int equality;
    pthread_cancel(pthread_self());
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &equality); /* no cancellation point */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return result;
}

static void* result_of(void* (*start)(void*))
{
    pthread_t thread;
    void* result;
    CHECK(pthread_create(&thread, NULL, start, &rounds) == 0);
    pthread_join(thread, &result);
    return result;
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    pthread_key_create(&key, destroy);
    if (rounds == 0) {
        CHECK(result_of(be_cancelled) == &rounds);
    }
    for (int i = 0; i < 3 && rounds > 0; ++i) {
        result_of(live);
    }
    MPI_Finalize();
    return 0;
}
