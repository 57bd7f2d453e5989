// The program of these tests is linked with --wrap, so that the library's calls of pwritev come to us first.
#pragma once

#include <atomic>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace hdtrace::test {

/// What pwritev does instead, if it is not null.
using PwriteFault = ssize_t (*)(int, const void*, size_t, off_t);
extern std::atomic<PwriteFault> pwrite_fault;

/// Memory is short for everything that is larger.
extern std::atomic<size_t> largest_allocation;

/// From now on all is well.
void end_faults();

} // namespace hdtrace::test

extern "C" ssize_t __real_pwritev(int descriptor, const iovec* parts, int count, off_t offset);
