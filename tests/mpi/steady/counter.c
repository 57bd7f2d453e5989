/* Counts what the calling thread asks the C library for; preloaded before everything else. */
#define _GNU_SOURCE
#include "counter.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);

static __thread struct counts counts;

struct counts counted(void)
{
    return counts;
}

/* What the tracer asks for, see hdtrace/writer/own_memory.h. */
bool hdtrace_refuses_memory(size_t size)
{
    (void)size;
    ++counts.allocations;
    return false;
}

void* malloc(size_t size)
{
    ++counts.allocations;
    return __libc_malloc(size);
}

void* calloc(size_t count, size_t size)
{
    ++counts.allocations;
    return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size)
{
    ++counts.allocations;
    return __libc_realloc(memory, size);
}

/* The MPI library locks as often as it likes: only what the tracer locks can be compared. */
static int is_in_tracer(const void* code)
{
    Dl_info place;
    return dladdr(code, &place) != 0 && strstr(place.dli_fname, "libHDTraceMPIWrapper") != NULL;
}

int pthread_mutex_lock(pthread_mutex_t* mutex)
{
    static int (*next)(pthread_mutex_t*);
    if (next == NULL) {
        next = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    counts.locks += is_in_tracer(__builtin_return_address(0));
    return next(mutex);
}

ssize_t pwritev(int file, const struct iovec* parts, int count, off_t offset)
{
    ++counts.writes;
    return syscall(SYS_pwritev, file, parts, count, offset, 0);
}
