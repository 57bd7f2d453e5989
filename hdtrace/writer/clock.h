// The clock of all traces of a process.
#pragma once

#include <stdint.h>
#include <time.h>

namespace hdtrace {

inline constexpr int64_t nanoseconds_per_second = 1'000'000'000;

namespace detail {
inline int64_t read_clock(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * nanoseconds_per_second + now.tv_nsec;
}
} // namespace detail

/// What Clock::now() adds to the monotonic clock, so that its times count from the epoch. Taken once per
/// process: later steps of the wall clock must not make a trace's times go backwards.
int64_t clock_offset();

/// Nanoseconds since the epoch; never decreases within a process. Thread-safe.
class Clock {
  public:
    Clock() : m_offset(clock_offset()) {}
    int64_t now() const { return detail::read_clock(CLOCK_MONOTONIC) + m_offset; }

  private:
    int64_t m_offset;
};

} // namespace hdtrace
