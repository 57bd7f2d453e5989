/* Measures what a call costs: loops LOOP CALLS
 *
 * Each process makes about CALLS calls of one kind; the first one prints a line
 *
 *     calls N start_ns S loop_ns T finalize_ns F resident_kb R
 *
 * N: calls of all processes and threads in the loop; S: until MPI_Init has returned, from `loops start` on,
 * which executes the program that runs this one (0: without it); T: duration of the loop in the first
 * process.
 *
 *     loops start PROGRAM ARGUMENTS */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 8, BLOCK = 4096, BLOCKS = 256, OBJECTS = 1000 };

static int rank, size, peer;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Each loop makes at least `calls` calls and returns how many they were. */

static long exchange(long calls, int other, MPI_Comm comm)
{
    int out = rank, in = -1;
    MPI_Request requests[2];
    for (long i = 0; i < calls; i += 3) {
        MPI_Irecv(&in, 1, MPI_INT, other, 1, comm, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, other, 1, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return (calls + 2) / 3 * 3;
}

static long ping_pong(long calls)
{
    return exchange(calls, peer, MPI_COMM_WORLD);
}

static long allreduce(long calls)
{
    double mine = rank, sum;
    for (long i = 0; i < calls; ++i) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return calls;
}

static long iprobe(long calls)
{
    int flag;
    for (long i = 0; i < calls; ++i) {
        MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    return calls;
}

static long sendrecv(long calls)
{
    int out = rank, in = -1;
    for (long i = 0; i < calls; ++i) {
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 2, &in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return calls;
}

static long file_blocks(long calls)
{
    static char block[BLOCK];
    MPI_File file;
    char name[64];
    snprintf(name, sizeof name, "loops.data.%d", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (long i = 0; i < calls; i += 2) {
        const MPI_Offset place = i / 2 % BLOCKS * BLOCK;
        MPI_File_write_at(file, place, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, place, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    return (calls + 1) / 2 * 2;
}

/* Makes a datatype, uses it, frees it. */
static long new_objects(long calls)
{
    int value = 0;
    MPI_Datatype type;
    for (long i = 0; i < calls; i += 4) {
        MPI_Type_contiguous(1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Send(&value, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        MPI_Type_free(&type);
    }
    return (calls + 3) / 4 * 4;
}

/* Uses objects in turn of which there are many. */
static long many_objects(long calls)
{
    static MPI_Datatype types[OBJECTS];
    static MPI_Comm comms[OBJECTS];
    int value = 0;
    for (int i = 0; i < OBJECTS; ++i) {
        MPI_Type_contiguous(1, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    }
    for (long i = 0; i < calls; ++i) {
        MPI_Send(&value, 1, types[i % OBJECTS], MPI_PROC_NULL, 0, comms[i % OBJECTS]);
    }
    for (int i = 0; i < OBJECTS; ++i) {
        MPI_Type_free(&types[i]);
        MPI_Comm_free(&comms[i]);
    }
    return calls;
}

/* While many receives are pending. With MPI_PROC_NULL the MPI library has next to nothing to do, and no locks
 * that hide what the tracer's cost. */
static long many_requests(long calls)
{
    static int in[OBJECTS];
    static MPI_Request pending[OBJECTS];
    for (int i = 0; i < OBJECTS; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, rank, 100 + i, MPI_COMM_WORLD, &pending[i]);
    }
    const long made = exchange(calls, MPI_PROC_NULL, MPI_COMM_WORLD);
    for (int i = 0; i < OBJECTS; ++i) {
        MPI_Send(&i, 1, MPI_INT, rank, 100 + i, MPI_COMM_WORLD);
    }
    MPI_Waitall(OBJECTS, pending, MPI_STATUSES_IGNORE);
    return made;
}

struct part {
    MPI_Comm comm;
    long calls;
};

static void* exchange_part(void* argument)
{
    struct part* const part = argument;
    part->calls = exchange(part->calls, MPI_PROC_NULL, part->comm);
    return NULL;
}

static long threads(long calls, int count)
{
    pthread_t running[MOST_THREADS];
    struct part parts[MOST_THREADS];
    for (int i = 0; i < count; ++i) {
        parts[i].calls = calls / count;
        MPI_Comm_dup(MPI_COMM_SELF, &parts[i].comm);
        pthread_create(&running[i], NULL, exchange_part, &parts[i]);
    }
    for (int i = 0; i < count; ++i) {
        pthread_join(running[i], NULL);
        MPI_Comm_free(&parts[i].comm);
    }
    return parts[0].calls * count;
}

static long one_thread(long calls)
{
    return threads(calls, 1);
}

static long two_threads(long calls)
{
    return threads(calls, 2);
}

static long eight_threads(long calls)
{
    return threads(calls, 8);
}

static const struct loop {
    const char* name;
    long (*run)(long calls);
    int needs_threads;
} loops[] = {
    {"ping-pong", ping_pong, 0},       {"allreduce", allreduce, 0},         {"iprobe", iprobe, 0},
    {"sendrecv", sendrecv, 0},         {"file-blocks", file_blocks, 0},     {"new-objects", new_objects, 0},
    {"many-objects", many_objects, 0}, {"many-requests", many_requests, 0}, {"1-thread", one_thread, 1},
    {"2-threads", two_threads, 1},     {"8-threads", eight_threads, 1},
};

static long resident_kilobytes(void)
{
    char line[200];
    long kilobytes = -1;
    FILE* const file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kilobytes;
}

static const struct loop* find(const char* name)
{
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; ++i) {
        if (strcmp(loops[i].name, name) == 0) {
            return &loops[i];
        }
    }
    fprintf(stderr, "loops: there is no loop '%s'\n", name);
    exit(2);
}

#define STARTED "LOOPS_STARTED"

static int start(char** command)
{
    char time[32];
    snprintf(time, sizeof time, "%ld", now());
    setenv(STARTED, time, 1);
    execvp(command[0], command);
    perror(command[0]);
    return EXIT_FAILURE;
}

static long since_start(void)
{
    const char* const started = getenv(STARTED);
    return started != NULL ? now() - atol(started) : 0;
}

int main(int argc, char** argv)
{
    if (argc > 2 && strcmp(argv[1], "start") == 0) {
        return start(argv + 2);
    }
    if (argc != 3) {
        fprintf(stderr, "usage: loops LOOP CALLS\n       loops start PROGRAM ARGUMENTS\n");
        return 2;
    }
    const struct loop* const loop = find(argv[1]);
    const long calls = atol(argv[2]);
    int provided;
    MPI_Init_thread(&argc, &argv, loop->needs_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    const long starting = since_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    if (peer >= size) {
        peer = MPI_PROC_NULL;
    }
    loop->run(calls / 10 + 1); /* to warm up */
    MPI_Barrier(MPI_COMM_WORLD);
    const long begin = now();
    const long made = loop->run(calls);
    const long end = now();
    MPI_Barrier(MPI_COMM_WORLD);
    const long resident = resident_kilobytes();
    const long finalizing = now();
    MPI_Finalize();
    if (rank == 0) {
        printf("calls %ld start_ns %ld loop_ns %ld finalize_ns %ld resident_kb %ld\n", made * size, starting,
               end - begin, now() - finalizing, resident);
    }
    return EXIT_SUCCESS;
}
