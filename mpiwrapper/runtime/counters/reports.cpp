#include "mpiwrapper/runtime/counters/reports.h"

#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/counters/table.h"

#include <errno.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

// Other processes will most likely have to say the same.
Verbosity level()
{
    return is_first_rank() ? incomplete_trace : warnings;
}

bool is_not_permitted(int error)
{
    return error == EACCES || error == EPERM;
}

bool is_not_there(int error)
{
    return error != 0 && !is_not_permitted(error);
}

constexpr PerfProblem problems[] = {
    {is_not_permitted,
     "the kernel permits them only with a smaller number in "
     "/proc/sys/kernel/perf_event_paranoid (2; for context-switches and cpu-migrations 1) or "
     "with CAP_PERFMON, in containers also with a seccomp profile that allows "
     "perf_event_open"},
    {is_not_there, "this processor does not have them, or the virtual machine hides them"},
};

constexpr size_t longest_compared = 64;

size_t least(size_t a, size_t b, size_t c)
{
    const size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

// How many characters must be replaced, added or left out to make one of the other (Levenshtein).
size_t distance(const char* from, const char* to)
{
    const size_t length = strnlen(to, longest_compared);
    size_t row[longest_compared + 1];
    for (size_t i = 0; i <= length; ++i)
        row[i] = i;
    for (; *from != '\0'; ++from) {
        size_t diagonal = row[0]++;
        for (size_t i = 1; i <= length; ++i) {
            const size_t above = row[i];
            row[i] = least(diagonal + (*from != to[i - 1] ? 1 : 0), above + 1, row[i - 1] + 1);
            diagonal = above;
        }
    }
    return row[length];
}

const char* nearest(const char* name)
{
    const char* found = "";
    size_t shortest = longest_compared + 1;
    for (const SampledCounter& counter : sampled_counters()) {
        const size_t length = distance(name, counter.name);
        if (length >= shortest)
            continue;
        shortest = length;
        found = counter.name;
    }
    return found;
}

} // namespace

CounterReport& CounterReport::add(const char* name)
{
    const size_t length = strlen(name);
    if (m_length + length + 3 > sizeof m_names)
        return *this;
    m_length = static_cast<size_t>(put_constant(m_names + m_length, m_length > 0 ? ", " : "") - m_names);
    m_length = static_cast<size_t>(put_constant(m_names + m_length, name) - m_names);
    return *this;
}

void CounterReport::end()
{
    if (m_length == 0)
        return;
    m_names[m_length] = '\0';
    Diagnostic(level()).text("counters ").text(m_names).text(" are left out: ").text(m_why);
}

void report_unknown_counter(const char* name)
{
    Diagnostic(level())
        .text("HDTRACE_COUNTERS: there is no counter '")
        .text(name)
        .text("'; did you mean '")
        .text(nearest(name))
        .text("'?");
}

std::span<const PerfProblem> perf_problems()
{
    return problems;
}

} // namespace hdtrace::mpi
