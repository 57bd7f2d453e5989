/* Preloaded, it lets the tracer run out of memory, and nobody else: of the requests for memory that come from
   libHDTraceMPIWrapper those fail that STARVE names: "N" all from the Nth on, "N+" only the Nth,
   "%N" about every Nth. At the end it says on descriptor 3, if that is open, how many there were. */
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t begin = 0, end = 0; /* of the tracer's code */
static long requests = 0, number = 0;
static enum { never, from, once, at_times } when = never;

static int find_tracer(struct dl_phdr_info* library, size_t size, void* unused)
{
    (void)size, (void)unused;
    if (strstr(library->dlpi_name, "libHDTraceMPIWrapper") == NULL)
        return 0;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr)* part = &library->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            begin = library->dlpi_addr + part->p_vaddr;
            end = begin + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    const char* text = getenv("STARVE");
    if (text == NULL || !dl_iterate_phdr(find_tracer, NULL))
        return;
    number = atol(text + (*text == '%'));
    when = *text == '%' ? at_times : strchr(text, '+') != NULL ? once : from;
}

__attribute__((destructor)) static void stop(void)
{
    dprintf(3, "%ld\n", requests);
}

static bool fails(void)
{
    if (when == never)
        return false;
    const long i = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
    /* The multiplication makes it irregular. */
    const bool is_met = when == from   ? i >= number
                        : when == once ? i == number
                                       : (uint32_t)(i * 2654435761u) % 1024 < 1024 / number;
    if (is_met)
        errno = ENOMEM;
    return is_met;
}

/* See hdtrace/writer/own_memory.h. */
bool hdtrace_refuses_memory(size_t size)
{
    (void)size;
    return fails();
}

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    return begin <= caller && caller < end && fails()
               ? MAP_FAILED
               : (void*)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}
