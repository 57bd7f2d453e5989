#include "mpiwrapper/runtime/recording/call_counts.h"

#include "mpiwrapper/runtime/process/info_sink.h"

#include <string.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t function_count = static_cast<size_t>(Function::count);
enum { ignored, recorded };

constexpr const char* names[] = {
#define HDT_WRAPPED(name) #name,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
};

void write_line(const char* name, const uint64_t (&counts)[2])
{
    char line[256];
    char* end = put_constant(put_text(line, "Calls name='"), name);
    end = put_number(put_text(end, "' recorded="), static_cast<int64_t>(counts[recorded]));
    end = put_text(put_number(put_text(end, " ignored="), static_cast<int64_t>(counts[ignored])), "\n");
    info_file().write(line, static_cast<size_t>(end - line));
}

} // namespace

void CallCounts::take(CallCounts& others)
{
    for (size_t i = 0; i < function_count; ++i) {
        m_counts[i][ignored] += others.m_counts[i][ignored];
        m_counts[i][recorded] += others.m_counts[i][recorded];
    }
    memset(others.m_counts, 0, sizeof others.m_counts);
}

void CallCounts::describe() const
{
    for (size_t i = 0; i < function_count; ++i) {
        if (m_counts[i][ignored] + m_counts[i][recorded] > 0)
            write_line(names[i] + strlen("MPI_"), m_counts[i]);
    }
}

} // namespace hdtrace::mpi
