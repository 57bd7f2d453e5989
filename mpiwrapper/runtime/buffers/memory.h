// Memory of the program that MPI uses.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

enum class BufferUse : uint8_t { reads, writes };

struct Memory {
    const void* begin;
    int64_t size;
};

} // namespace hdtrace::mpi
