/* counters WAY: does what counters count, between calls of MPI. */
#include "check.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of processor time, however busy the machine is. */
static void burn(double duration)
{
    const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + duration;
    volatile double sum = 0;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (int i = 0; i < 10000; ++i) {
            sum += i;
        }
    }
    (void)sum; /* GCC 16 warns of variables that are only written */
}

static void touch(size_t bytes)
{
    char* const memory = malloc(bytes);
    CHECK(memory != NULL);
    for (size_t i = 0; i < bytes; i += 512) {
        ((volatile char*)memory)[i] = 1;
    }
    free(memory);
}

static void write_file(const char* name, size_t bytes)
{
    char* const memory = calloc(1, bytes);
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(memory != NULL && file >= 0 && write(file, memory, bytes) == (ssize_t)bytes);
    close(file);
    unlink(name);
    free(memory);
}

/* Each phase ends with a call that only it has. */
static void work(void)
{
    int flag;
    MPI_Barrier(MPI_COMM_WORLD);
    burn(0.2);
    MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    touch(16 * MIB);
    MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_SELF);
    for (int i = 0; i < 20; ++i) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* For a second nothing of MPI. */
static void compute(void)
{
    char name[32];
    snprintf(name, sizeof name, "written-%d", rank);
    write_file(name, 8 * MIB);
    const double end = seconds(CLOCK_MONOTONIC) + 1;
    while (seconds(CLOCK_MONOTONIC) < end) {
        usleep(10000);
    }
}

static void add_in_operator(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)in, (void)out, (void)count, (void)type;
    burn(0.1);
}

/* A call that computes, and one that waits. */
static void be_in_calls(void)
{
    int in = 1, out = 2;
    MPI_Op operation;
    MPI_Op_create(add_in_operator, 1, &operation);
    MPI_Reduce_local(&in, &out, 1, MPI_INT, operation);
    MPI_Op_free(&operation);
    if (rank == 0) {
        usleep(200000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int is_perf_event(int descriptor)
{
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    return length > 0 && strstr(target, "perf_event") != NULL;
}

static int count_perf_descriptors(void)
{
    int count = 0;
    for (int descriptor = 0; descriptor < 2000; ++descriptor) {
        count += is_perf_event(descriptor);
    }
    return count;
}

static void* call_and_end(void* unused)
{
    MPI_Barrier(MPI_COMM_SELF);
    return unused;
}

/* What others see of our descriptors. */
static void look_at_descriptors(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const int before = count_perf_descriptors();
    pthread_t thread;
    pthread_create(&thread, NULL, call_and_end, NULL);
    pthread_join(thread, NULL);
    printf("own %d\nafter a thread %d\n", before, count_perf_descriptors());
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        printf("child %d\n", count_perf_descriptors());
        fflush(stdout);
        execl("/bin/sh", "sh", "-c", "echo exec $(ls -l /proc/self/fd | grep -c perf_event)", NULL);
    }
    waitpid(child, NULL, 0);
}

/* As some programs do that become daemons. Other files have the numbers then, which nobody may read. */
static void close_all(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    int pipes[2], was_open[2000];
    CHECK(pipe(pipes) == 0 && write(pipes[1], "unread", 6) == 6);
    for (int descriptor = 400; descriptor < 2000; ++descriptor) {
        was_open[descriptor] = close(descriptor) == 0;
    }
    for (int descriptor = 400; descriptor < 2000; ++descriptor) {
        CHECK(!was_open[descriptor] || dup2(pipes[0], descriptor) == descriptor);
    }
    MPI_Barrier(MPI_COMM_SELF);
    char text[8];
    CHECK(read(pipes[0], text, sizeof text) == 6);
}

static long long value_of(int event)
{
    long long value;
    CHECK(read(event, &value, sizeof value) == sizeof value);
    return value;
}

/* An event of the program's own has the number of the one that watches what is received. */
static void close_watched(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_TASK_CLOCK,
                                         .exclude_kernel = 1};
    int number, replaced = 0;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    const int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    CHECK(event >= 0);
    for (int descriptor = event + 1; descriptor < 2000; ++descriptor) {
        if (is_perf_event(descriptor)) {
            replaced += dup2(event, descriptor) == descriptor;
        }
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const long long before = value_of(event);
    burn(0.01);
    CHECK(replaced > 0 && value_of(event) > before);
}

static void be_killed(void)
{
    work();
    usleep(1500000); /* until the files are written */
    kill(getpid(), SIGKILL);
}

static void leave(void)
{
    work();
    exit(0);
}

static const struct {
    const char* name;
    void (*go)(void);
} ways[] = {
    {"work", work},           {"compute", compute},
    {"calls", be_in_calls},   {"descriptors", look_at_descriptors},
    {"close_all", close_all}, {"kill", be_killed},
    {"exit", leave},          {"close_watched", close_watched},
};

int main(int argc, char** argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    find_place();
    for (int i = 0; i < LENGTH(ways); ++i) {
        if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0) {
            ways[i].go();
        }
    }
    MPI_Finalize();
    printf("after Finalize %d\n", count_perf_descriptors());
    return EXIT_SUCCESS;
}
