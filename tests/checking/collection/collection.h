/* What all programs of the collection include. */
#pragma once

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

/* Whether the system lets programs watch memory. */
static inline int has_watchpoints(void)
{
    static int watched;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT, .size = sizeof attributes, .exclude_kernel = 1, .exclude_hv = 1};
    attributes.bp_type = HW_BREAKPOINT_RW;
    attributes.bp_addr = (unsigned long)&watched;
    attributes.bp_len = sizeof watched;
    const int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (event >= 0) {
        close(event);
    }
    return event >= 0;
}
