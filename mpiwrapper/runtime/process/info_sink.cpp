#include "mpiwrapper/runtime/process/info_sink.h"

#include "mpiwrapper/runtime/process/trace_place.h"

#include <new>

namespace hdtrace::mpi {

namespace {

// Never destroyed: other destructors of the program may still call MPI.
InfoWriter* info = nullptr;
bool have_descriptions_ended = false;
char memory[sizeof(InfoWriter)] __attribute__((aligned(alignof(InfoWriter))));

} // namespace

int open_info(const char* path)
{
    if (info == nullptr)
        info = new (memory) InfoWriter;
    return info->open(path, report_write_error);
}

void write_info(const TextBuffer& lines)
{
    if (!__atomic_load_n(&have_descriptions_ended, __ATOMIC_RELAXED))
        info->write(lines);
}

void end_descriptions()
{
    __atomic_store_n(&have_descriptions_ended, true, __ATOMIC_RELAXED);
}

InfoWriter& info_file()
{
    return *info;
}

} // namespace hdtrace::mpi
