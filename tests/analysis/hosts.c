/* A program that runs on several hosts, as far as the tracer can tell: it sees another name of the host in
 * each odd rank, and clocks that are TEST_CLOCK_OFFSET nanoseconds ahead at the time TEST_CLOCK_BASE and gain
 * TEST_CLOCK_DRIFT nanoseconds in a second. Neither MPI nor the program itself sees that. */
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static uintptr_t tracer_begin, tracer_end;

static int find_tracer(struct dl_phdr_info* library, size_t size, void* unused)
{
    (void)size, (void)unused;
    if (!strstr(library->dlpi_name, "HDTraceMPIWrapper")) {
        return 0;
    }
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        if (library->dlpi_phdr[i].p_type == PT_LOAD && library->dlpi_phdr[i].p_flags & PF_X) {
            tracer_begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
            tracer_end = tracer_begin + library->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

static int64_t number_in(const char* variable)
{
    const char* const text = getenv(variable);
    return text ? atoll(text) : 0;
}

/* Whether whoever called a function is the tracer, on the host whose clock is wrong. */
static int is_tracer_elsewhere(const void* caller)
{
    const char* const rank = getenv(getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK");
    if (!rank || atoi(rank) % 2 == 0) {
        return 0;
    }
    if (tracer_end == 0) {
        dl_iterate_phdr(find_tracer, NULL);
    }
    return (uintptr_t)caller >= tracer_begin && (uintptr_t)caller < tracer_end;
}

int gethostname(char* name, size_t size)
{
    struct utsname host;
    if (uname(&host) != 0) {
        return -1;
    }
    snprintf(name, size, "%s%s", host.nodename, is_tracer_elsewhere(__builtin_return_address(0)) ? "-2" : "");
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec* time)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    const int has_wrong_time = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
    if (result != 0 || !has_wrong_time || !is_tracer_elsewhere(__builtin_return_address(0))) {
        return result;
    }
    const int64_t second = 1000000000;
    int64_t shown = time->tv_sec * second + time->tv_nsec;
    const int64_t base = clock == CLOCK_REALTIME ? number_in("TEST_CLOCK_BASE") : 0;
    shown += (int64_t)((double)(shown - base) * 1e-9 * (double)number_in("TEST_CLOCK_DRIFT"));
    shown += clock == CLOCK_REALTIME ? number_in("TEST_CLOCK_OFFSET") : 0;
    time->tv_sec = shown / second;
    time->tv_nsec = shown % second;
    return 0;
}

int main(int argc, char** argv)
{
    int rank, size, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 300; ++i) {
        const int even = rank % 2 == 0;
        const int other = (rank + (even ? 1 : -1) * (i % 2 ? 1 : -1) + size) % size;
        for (int turn = 0; turn < 2; ++turn) {
            if (even == (turn == 0)) {
                MPI_Send(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
            } else {
                MPI_Recv(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        if (i % 10 == 0) {
            usleep(10000);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
