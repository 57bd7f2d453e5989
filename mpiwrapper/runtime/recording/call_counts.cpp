#include "mpiwrapper/runtime/recording/call_counts.h"

#include "mpiwrapper/runtime/process/info_sink.h"

#include <string.h>

namespace hdtrace::mpi {

namespace {

enum { ignored, recorded };

void write_line(const char* name, const uint64_t (&counts)[2], int64_t ignored_time)
{
    char line[256];
    char* end = put_constant(put_text(line, "Calls name='"), name);
    end = put_number(put_text(end, "' recorded="), static_cast<int64_t>(counts[recorded]));
    end = put_number(put_text(end, " ignored="), static_cast<int64_t>(counts[ignored]));
    if (ignored_time > 0)
        end = put_seconds(put_text(end, " ignoredTime="), ignored_time);
    end = put_text(end, "\n");
    info_file().write_ahead(line, static_cast<size_t>(end - line));
}

} // namespace

void CallCounts::leave_out(Function function)
{
    --m_counts[static_cast<size_t>(function)][recorded];
    ++m_counts[static_cast<size_t>(function)][ignored];
}

void CallCounts::leave_out_poll(Function function, int64_t nanoseconds)
{
    leave_out(function);
    add_time(function, nanoseconds);
    ++m_more[static_cast<size_t>(function)].polls;
}

int64_t CallCounts::take_polls(Function function)
{
    int64_t& polls = m_more[static_cast<size_t>(function)].polls;
    const int64_t taken = polls;
    polls = 0;
    return taken;
}

void CallCounts::add_time(Function function, int64_t nanoseconds)
{
    m_more[static_cast<size_t>(function)].time += nanoseconds;
}

void CallCounts::take(CallCounts& others)
{
    for (size_t i = 0; i < function_count; ++i) {
        m_counts[i][ignored] += others.m_counts[i][ignored];
        m_counts[i][recorded] += others.m_counts[i][recorded];
        m_more[i].time += others.m_more[i].time;
        others.m_more[i] = {};
    }
    memset(others.m_counts, 0, sizeof others.m_counts);
}

void CallCounts::describe() const
{
    for (size_t i = 0; i < function_count; ++i) {
        if (m_counts[i][ignored] + m_counts[i][recorded] > 0)
            write_line(ruled_functions()[i].name + strlen("MPI_"), m_counts[i], m_more[i].time);
    }
}

} // namespace hdtrace::mpi
