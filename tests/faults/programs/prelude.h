/* Every program begins with the same calls, so that the tests know what must be in the trace: Init and ten
 * Bcast. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is not true\n", __FILE__, __LINE__, #condition);                      \
            exit(99);                                                                                        \
        }                                                                                                    \
    } while (0)

static inline void make_calls(int count)
{
    for (int i = 0; i < count; ++i)
        MPI_Bcast(&i, 1, MPI_INT, 0, MPI_COMM_SELF);
}

static inline void begin_calls_with(int thread_level, int* argc, char*** argv)
{
    int provided;
    MPI_Init_thread(argc, argv, thread_level, &provided);
    make_calls(10);
}

static inline void begin_calls(int* argc, char*** argv)
{
    begin_calls_with(MPI_THREAD_MULTIPLE, argc, argv);
}

/* Is inside MPI_Reduce_local while `inside` runs. */
static inline void be_in_a_call(MPI_User_function* inside)
{
    MPI_Op operation;
    int in = 0, out = 0;
    MPI_Op_create(inside, 1, &operation);
    MPI_Reduce_local(&in, &out, 1, MPI_INT, operation);
}

/* Without the pages of files, which the kernel takes away and brings back as it likes. */
static inline long resident_kib(void)
{
    long size, resident, of_files;
    FILE* file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld %ld", &size, &resident, &of_files) == 3);
    fclose(file);
    return (resident - of_files) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The function that the program's first argument names. */
struct way {
    const char* name;
    void (*go)(void);
};

static inline void go(const struct way* ways, int count, const char* name)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(ways[i].name, name) == 0) {
            ways[i].go();
            return;
        }
    }
    fprintf(stderr, "no way is called %s\n", name);
    exit(98);
}

#define GO(ways, name) go(ways, sizeof ways / sizeof *ways, name)
