/* threads WAY: threads that are busy, many, or all that is left when the program ends. */
#include "prelude.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char* argument;
static sem_t is_in_call;

static void stay(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)in, (void)out, (void)count, (void)type;
    sem_post(&is_in_call);
    for (;;)
        pause();
}

static void* call_for_ever(void* unused)
{
    be_in_a_call(stay);
    return unused;
}

static void start_call(void)
{
    pthread_t thread;
    sem_init(&is_in_call, 0, 0);
    CHECK(pthread_create(&thread, NULL, call_for_ever, NULL) == 0);
    sem_wait(&is_in_call);
}

static void exit_beside_a_call(void)
{
    start_call();
    exit(7);
}

static void* call_again_and_again(void* unused)
{
    for (;;)
        make_calls(1);
    return unused;
}

static void* terminate_soon(void* unused)
{
    usleep(50 * 1000);
    kill(getpid(), SIGTERM);
    return unused;
}

static void exit_beside_busy_threads(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i)
        CHECK(pthread_create(&threads[i], NULL, call_again_and_again, NULL) == 0);
    usleep(100 * 1000);
    exit(7);
}

/* Signals of the process come to another thread than the one that calls MPI. */
static void be_terminated_while_calling(void)
{
    const int file = open(argument, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(ftruncate(file, sizeof(long)) == 0);
    volatile long* const returned = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(returned != MAP_FAILED);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, terminate_soon, NULL) == 0);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        make_calls(1);
        ++*returned;
    }
}

static void abort_beside_a_call(void)
{
    start_call();
    abort();
}

static pthread_barrier_t all_have_called;

static void* call_and_wait(void* unused)
{
    make_calls(3);
    pthread_barrier_wait(&all_have_called);
    return unused;
}

static void start_together(int count)
{
    pthread_t* const threads = calloc(count, sizeof *threads);
    pthread_barrier_init(&all_have_called, NULL, count + 1);
    for (int i = 0; i < count; ++i)
        CHECK(pthread_create(&threads[i], NULL, call_and_wait, NULL) == 0);
    pthread_barrier_wait(&all_have_called);
    for (int i = 0; i < count; ++i)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void start_many(void)
{
    start_together(200);
}
static void start_thousand(void)
{
    start_together(1000);
}

static void* call(void* unused)
{
    make_calls(1);
    return unused;
}

static void start_one_by_one(int count)
{
    for (int i = 0; i < count; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, call, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static int count_descriptors(void)
{
    int count = 0;
    DIR* const directory = opendir("/proc/self/fd");
    while (readdir(directory) != NULL)
        ++count;
    closedir(directory);
    return count;
}

/* What is left of the first thousand is left of all. */
static void start_ten_thousand(void)
{
    start_one_by_one(1000);
    const int descriptors = count_descriptors();
    const long memory = resident_kib();
    start_one_by_one(9000);
    printf("descriptors %d\n", count_descriptors() - descriptors);
    printf("grew %ld\n", resident_kib() - memory);
}

static void be_killed_after_others(void)
{
    start_one_by_one(3);
    raise(SIGKILL);
}

static void end_thread(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)in, (void)out, (void)count, (void)type;
    pthread_exit(NULL);
}

static void* end_inside_call(void* unused)
{
    be_in_a_call(end_thread);
    return unused;
}

static void go_on_behind_call(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_inside_call, NULL) == 0);
    pthread_join(thread, NULL);
    start_one_by_one(1);
}

static void start_one_with_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0);
    CHECK(pthread_create(&thread, &attributes, call, NULL) == 0);
    pthread_join(thread, NULL);
}

/* The first key is not the tracer's. */
static void* call_and_look_at_key(void* unused)
{
    const void* const value = pthread_getspecific(0);
    make_calls(1);
    CHECK(pthread_getspecific(0) == value);
    return unused;
}

static void start_one_without_keys(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_and_look_at_key, NULL) == 0);
    pthread_join(thread, NULL);
}

/* The threads are more than descriptors may be open, and the program wants its own. */
static void start_many_with_few_files(void)
{
    const struct rlimit few = {128, 128};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    start_together(200);
    for (int i = 0; i < 30; ++i)
        CHECK(open("/dev/null", O_RDONLY) >= 0);
}

static const struct way ways[] = {
    {"exit", exit_beside_a_call},
    {"exit_busy", exit_beside_busy_threads},
    {"terminated", be_terminated_while_calling},
    {"abort", abort_beside_a_call},
    {"small_stack", start_one_with_small_stack},
    {"many", start_many},
    {"thousand", start_thousand},
    {"ten_thousand", start_ten_thousand},
    {"few_files", start_many_with_few_files},
    {"killed_after", be_killed_after_others},
    {"ends_inside", go_on_behind_call},
    {"no_keys", start_one_without_keys},
};

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    argument = argv[2];
    GO(ways, argv[1]);
    MPI_Finalize();
    return 0;
}
