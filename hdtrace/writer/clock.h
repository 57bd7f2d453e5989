// The clock of all traces of a process.
#pragma once

#include "hdtrace/writer/tick_counter.h"

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

/// Reads the monotonic clock itself, and adjusts the processor's counter to it where that is steady.
int64_t monotonic_time_slowly();

#ifdef HDTRACE_TICK_COUNTER
inline constexpr unsigned rate_bits = 32;

/// What the processor's counter means for a while.
struct TickScale {
    uint64_t origin; ///< in ticks
    uint64_t span;   ///< ticks from there on for which it holds
    int64_t time;    ///< nanoseconds at the origin
    uint64_t rate;   ///< nanoseconds per tick, times 2^rate_bits

    /// One without a span never does.
    bool holds_at(uint64_t tick) const { return tick - origin < span; }
    int64_t time_at(uint64_t tick) const
    {
        return time + static_cast<int64_t>((tick - origin) * rate >> rate_bits);
    }
};

// A new scale is written beside the present one, so nobody waits for anybody; who still reads an old one has
// some time.
inline constexpr uint32_t scale_count = 8;
extern TickScale scales[scale_count];
extern uint32_t
    scale_version; ///< of the present scale, which is at this index modulo scale_count; 0: there is none

/// The present scale. False if there is none.
inline bool read_scale(TickScale& scale)
{
    const uint32_t version = __atomic_load_n(&scale_version, __ATOMIC_ACQUIRE);
    if (version == 0)
        return false;
    const TickScale& shared = scales[version % scale_count];
    scale = {__atomic_load_n(&shared.origin, __ATOMIC_ACQUIRE),
             __atomic_load_n(&shared.span, __ATOMIC_ACQUIRE), __atomic_load_n(&shared.time, __ATOMIC_ACQUIRE),
             __atomic_load_n(&shared.rate, __ATOMIC_ACQUIRE)};
    const bool may_be_overwritten =
        __atomic_load_n(&scale_version, __ATOMIC_RELAXED) - version >= scale_count - 1;
    return !may_be_overwritten;
}

/// The monotonic clock by the counter.
inline int64_t monotonic_time()
{
    TickScale scale;
    if (!read_scale(scale))
        return monotonic_time_slowly();
    const uint64_t tick = read_ticks();
    return scale.holds_at(tick) ? scale.time_at(tick) : monotonic_time_slowly();
}
#else
inline int64_t monotonic_time()
{
    return read_clock(CLOCK_MONOTONIC);
}
#endif

} // namespace detail

/// What Clock::now() adds to the monotonic clock, so that its times count from the epoch. Taken once per
/// process: later steps of the wall clock must not make a trace's times go backwards.
int64_t clock_offset();

/// Nanoseconds since the epoch. Each thread has its own; its times never decrease, and those of different
/// threads of a process differ from one clock by less than a microsecond. Signal handlers may interrupt it.
class Clock {
  public:
    Clock() : m_offset(clock_offset()) {}
    __attribute__((always_inline)) int64_t now()
    {
#ifdef HDTRACE_TICK_COUNTER
        const detail::TickScale scale = m_scale;
        const uint64_t tick = detail::read_ticks();
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        // A signal handler may have come between, and all of it may be another one since.
        const bool is_whole = m_scale.origin == scale.origin;
        const int64_t time = __builtin_expect(is_whole && scale.holds_at(tick), true) ? scale.time_at(tick)
                                                                                      : time_by_next_scale();
#else
        const int64_t time = detail::monotonic_time() + m_offset;
#endif
        if (time > m_last)
            m_last = time;
        return m_last;
    }

  private:
#ifdef HDTRACE_TICK_COUNTER
    /// Also takes over what the counter means from now on.
    __attribute__((noinline, cold)) int64_t time_by_next_scale();

    detail::TickScale m_scale = {}; ///< a copy of a scale of all threads, but with times since the epoch
    bool m_is_taking_scale = false;
#endif
    int64_t m_offset;
    int64_t m_last = 0;
};

} // namespace hdtrace
