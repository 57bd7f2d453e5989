#include "writer_fault_hooks.h"

#include <stdint.h>

#include "hdtrace/writer/own_memory.h"

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

// The fault sees one part at a time; the rest is a short write.
extern "C" ssize_t __wrap_pwritev(int descriptor, const iovec* parts, int count, off_t offset)
{
    const PwriteFault fault = pwrite_fault;
    return fault != nullptr ? fault(descriptor, parts->iov_base, parts->iov_len, offset)
                            : __real_pwritev(descriptor, parts, count, offset);
}

bool hdtrace_refuses_memory(size_t size)
{
    return size > largest_allocation;
}
