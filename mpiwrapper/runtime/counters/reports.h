// What the user is told about counters that cannot be had. Once in a run, as far as it is known to be the
// same everywhere.
#pragma once

#include "mpiwrapper/runtime/process/diagnostic.h"

#include <span>
#include <stddef.h>

namespace hdtrace::mpi {

/// A line that names counters and why they are left out; none if it names none.
class CounterReport {
  public:
    explicit CounterReport(const char* why) : m_why(why) {}
    CounterReport& add(const char* name);
    void end();

  private:
    const char* m_why;
    size_t m_length = 0;
    char m_names[2048];
};

inline CounterReport report_counters(const char* why)
{
    return CounterReport(why);
}

/// Names the counter that is spelled most alike.
void report_unknown_counter(const char* name);

/// Why the kernel does not count an event, and what to do.
struct PerfProblem {
    bool (*is_it)(int error);
    const char* message;
};
std::span<const PerfProblem> perf_problems();

} // namespace hdtrace::mpi
