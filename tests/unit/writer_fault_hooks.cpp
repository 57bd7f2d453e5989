#include "writer_fault_hooks.h"

#include <stdint.h>

namespace hdtrace::test {

std::atomic<PwriteFault> pwrite_fault = nullptr;
std::atomic<size_t> largest_allocation = SIZE_MAX;

void end_faults()
{
    pwrite_fault = nullptr;
    largest_allocation = SIZE_MAX;
}

} // namespace hdtrace::test

using namespace hdtrace::test;

extern "C" {
void* __real_malloc(size_t size);
void* __real_realloc(void* memory, size_t size);

// The fault sees one part at a time; the rest is a short write.
ssize_t __wrap_pwritev(int descriptor, const iovec* parts, int count, off_t offset)
{
    const PwriteFault fault = pwrite_fault;
    return fault != nullptr ? fault(descriptor, parts->iov_base, parts->iov_len, offset)
                            : __real_pwritev(descriptor, parts, count, offset);
}

void* __wrap_malloc(size_t size)
{
    return size <= largest_allocation ? __real_malloc(size) : nullptr;
}

void* __wrap_realloc(void* memory, size_t size)
{
    return size <= largest_allocation ? __real_realloc(memory, size) : nullptr;
}
}
