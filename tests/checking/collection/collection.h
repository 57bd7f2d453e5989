/* What all programs of the collection include. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 4, LARGE = 1 << 20 };

static inline void own_sum(void* in, void* inout, int* count, MPI_Datatype* type)
{
    for (int i = 0; i < *count; ++i) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
}

static inline void own_handler(MPI_Comm* comm, int* code, ...) {}

static inline void own_win_handler(MPI_Win* window, int* code, ...) {}

static inline void own_file_handler(MPI_File* file, int* code, ...) {}

static inline void sleep_ms(int milliseconds)
{
    usleep(1000 * milliseconds);
}
