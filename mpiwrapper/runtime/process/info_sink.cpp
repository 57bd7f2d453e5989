#include "mpiwrapper/runtime/process/info_sink.h"

#include <new>

namespace hdtrace::mpi {

namespace {

// Never destroyed: other destructors of the program may still call MPI.
InfoWriter* info = nullptr;
char memory[sizeof(InfoWriter)] __attribute__((aligned(alignof(InfoWriter))));

} // namespace

int open_info(const char* path)
{
    if (info == nullptr)
        info = new (memory) InfoWriter;
    return info->open(path);
}

void write_info(const TextBuffer& lines)
{
    info->write(lines);
}

InfoWriter& info_file()
{
    return *info;
}

} // namespace hdtrace::mpi
