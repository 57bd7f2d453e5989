#include "no_memory.h"

#include <stddef.h>

namespace {

thread_local bool is_short = false;

} // namespace

namespace hdtrace::test {

NoMemory::NoMemory()
{
    is_short = true;
}

NoMemory::~NoMemory()
{
    is_short = false;
}

} // namespace hdtrace::test

extern "C" {
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);

void* __wrap_malloc(size_t size)
{
    return is_short ? nullptr : __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size)
{
    return is_short ? nullptr : __real_calloc(count, size);
}

void* __wrap_realloc(void* memory, size_t size)
{
    return is_short ? nullptr : __real_realloc(memory, size);
}
}
