#include "no_memory.h"

#include "hdtrace/writer/own_memory.h"

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

bool hdtrace_refuses_memory(size_t)
{
    return is_short;
}
