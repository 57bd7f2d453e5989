#include "mpiwrapper/runtime/recording/life_lines.h"

#include "mpiwrapper/launcher/small_file.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t longest_line = 256;
constexpr size_t longest_name = 15; // of a thread, proc(5)

char* put_time(char* out, int64_t time)
{
    return put_seconds(out, time > time_base() ? time - time_base() : 0);
}

char* put_used(char* out, const timeval& used)
{
    return put_seconds(out, used.tv_sec * nanoseconds_per_second + used.tv_usec * 1000);
}

// Nothing where the system does not tell.
char* put_name(char* out, const Thread& thread)
{
    if (thread.name != nullptr)
        return put_text(put_constant(put_text(out, " name='"), thread.name), "'");
    char path[64], name[longest_name + 2];
    *put_text(put_number(put_text(path, "/proc/self/task/"), thread.tid), "/comm") = '\0';
    size_t length = read_begin(path, name);
    if (length == 0)
        return out;
    length -= name[length - 1] == '\n' ? 1 : 0;
    return put_text(put_info_escaped(put_text(out, " name='"), name, length), "'");
}

char* put_thread(char* out, const Thread& thread)
{
    out = put_number(put_text(out, "Thread number="), thread.number);
    out = put_number(put_text(out, " tid="), thread.tid);
    return put_time(put_text(out, " begin="), thread.begin);
}

// How long the main thread could run and had no processor, if the system tells: the second number there
// (Documentation/scheduler/sched-stats.rst of Linux).
char* put_waited(char* out)
{
    char text[96];
    if (read_begin("/proc/self/schedstat", text) == 0)
        return out;
    char* end;
    strtoull(text, &end, 10);
    if (*end != ' ')
        return out;
    const char* const second = end + 1;
    const auto nanoseconds = static_cast<int64_t>(strtoull(second, &end, 10));
    return end == second || nanoseconds < 0 ? out : put_seconds(put_text(out, " waited="), nanoseconds);
}

void write_line(const char* line, char* end)
{
    end = put_text(end, "\n");
    info_file().write_ahead(line, static_cast<size_t>(end - line));
}

// Those that are in its files.
int64_t calls_of_this_thread()
{
    if (current_thread == nullptr)
        return 0;
    return keeps_states ? current_thread->writer.states() : current_thread->sums->calls();
}

} // namespace

void describe_begin_of(const Thread& thread)
{
    char line[longest_line];
    write_line(line, put_thread(line, thread));
}

void describe_end_of(const Thread& thread)
{
    char line[longest_line];
    char* const end = put_time(put_text(put_thread(line, thread), " end="), Clock().now());
    write_line(line, put_name(end, thread));
}

void describe_signal(int signal, int64_t time)
{
    // A handler may send it again. Where calls came between, the program went on.
    static int described = 0;
    static int64_t calls_before = 0;
    const int64_t calls = calls_of_this_thread();
    const bool is_same = __atomic_exchange_n(&described, signal, __ATOMIC_RELAXED) == signal;
    if (__atomic_exchange_n(&calls_before, calls, __ATOMIC_RELAXED) == calls && is_same)
        return;
    char line[longest_line];
    char* end = put_text(line, "Signal name='");
    const char* const name = sigabbrev_np(signal);
    end = name != nullptr ? put_constant(put_text(end, "SIG"), name) : put_number(end, signal);
    end = put_time(put_text(end, "' time="), time);
    if (current_thread != nullptr)
        end = put_number(put_text(end, " thread="), current_thread->number);
    write_line(line, end);
}

void describe_cpu_time()
{
    rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return;
    char line[longest_line];
    char* end = put_time(put_text(line, "CpuTime time="), Clock().now());
    end = put_used(put_text(end, " user="), used.ru_utime);
    end = put_used(put_text(end, " system="), used.ru_stime);
    write_line(line, put_waited(end));
}

} // namespace hdtrace::mpi
