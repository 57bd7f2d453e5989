#include "hdtrace/writer/program_memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constexpr size_t page_size = 4096; // no page is smaller

} // namespace

bool copy_from_program(void* to, const void* from, size_t size)
{
    const iovec here = {to, size};
    const iovec there = {const_cast<void*>(from), size};
    return syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) == static_cast<long>(size);
}

long copy_string_from_program(char* to, const char* from, size_t most)
{
    size_t length = 0;
    while (length < most) {
        const size_t rest_of_page = page_size - reinterpret_cast<uintptr_t>(from + length) % page_size;
        const size_t size = rest_of_page < most - length ? rest_of_page : most - length;
        if (!copy_from_program(to + length, from + length, size))
            return -1;
        const size_t found = strnlen(to + length, size);
        length += found;
        if (found < size)
            break;
    }
    return static_cast<long>(length);
}

} // namespace hdtrace
