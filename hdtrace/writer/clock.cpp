#include "hdtrace/writer/clock.h"

#include "hdtrace/writer/scaling.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace {

namespace {

// The thread may lose the processor between two readings of the clocks, and the times of this process would
// be shifted against those of others: the quickest of some attempts counts.
int64_t measure_offset()
{
    int64_t offset = 0, shortest = INT64_MAX;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const int64_t before = detail::read_clock(CLOCK_MONOTONIC);
        const int64_t epoch = detail::read_clock(CLOCK_REALTIME);
        const int64_t duration = detail::read_clock(CLOCK_MONOTONIC) - before;
        if (duration < shortest) {
            shortest = duration;
            offset = epoch - before - duration / 2;
        }
    }
    return offset;
}

} // namespace

int64_t clock_offset()
{
    static int64_t taken = 0;
    int64_t offset = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
    if (offset != 0)
        return offset;
    const int64_t fresh = measure_offset();
    // Whoever comes first sets it for all threads.
    if (__atomic_compare_exchange_n(&taken, &offset, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    return offset;
}

#ifdef HDTRACE_TICK_COUNTER

int64_t Clock::time_by_next_scale()
{
    const int64_t time = detail::monotonic_time() + m_offset;
    detail::TickScale next;
    if (m_is_taking_scale || !detail::read_scale(next)) // by the code that this signal handler interrupts
        return time;
    next.time += m_offset;
    m_is_taking_scale = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    m_scale.span = 0; // it does not hold before all of it is there
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    m_scale.origin = next.origin;
    m_scale.time = next.time;
    m_scale.rate = next.rate;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    m_scale.span = next.span;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    m_is_taking_scale = false;
    return time;
}

#endif

namespace detail {

#ifdef HDTRACE_TICK_COUNTER

constinit TickScale scales[scale_count] = {};
constinit uint32_t scale_version = 0;

namespace {

// A scale holds as long as the time that its rate was measured in, so it is never further off than the
// measurement was.
constexpr int64_t shortest_window = 1'000'000;
constexpr int64_t longest_window = 100'000'000;
constexpr int most_wide_readings = 1000;
// A counter whose rate changes more than this part of it is not steady. (NTP changes the clock's by a
// 2000th at most.)
constexpr uint64_t steady_part = 500;

// The kernel watches the counter, and uses it itself only while it is steady on all processors.
bool kernel_trusts_the_counter()
{
    const int program_errno = errno;
    char source[32] = "";
    const int file =
        open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, source, sizeof source - 1) < 0)
            source[0] = '\0';
        *strchrnul(source, '\n') = '\0';
        close(file);
    }
    errno = program_errno;
    return strcmp(source, tick_counter_source) == 0;
}

struct Reading {
    uint64_t tick = 0;
    int64_t time = 0;
    uint64_t width = UINT64_MAX; ///< ticks that the reading took
};

Reading read_both()
{
    Reading best;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const uint64_t before = read_ticks();
        const int64_t time = read_clock(CLOCK_MONOTONIC);
        const uint64_t width = read_ticks() - before;
        if (width < best.width)
            best = {before + width / 2, time, width};
    }
    return best;
}

bool counter_is_steady = true; // as far as we know
bool is_adjusting = false;     // for the only Adjustment

class Adjustment {
  public:
    /// Makes a new scale, if the last reading is old enough. Returns the time of @p reading, but none before
    /// what was told.
    int64_t adjust(const Reading& reading)
    {
        const int64_t time = reading.time > last_told(reading.tick) ? reading.time : last_told(reading.tick);
        // Readings of the counter that lie far apart tell nothing about the clock between them.
        if (reading.width > ticks_of_a_wide_reading()) {
            if (++m_wide_readings == most_wide_readings)
                give_up();
            return time;
        }
        const int64_t window = reading.time - m_last.time;
        if (m_last.time == 0) {
            if (!kernel_trusts_the_counter())
                give_up();
            m_last = reading;
        } else if (window >= shortest_window) {
            if (measure_rate(reading, window))
                publish(reading.tick, time, time - reading.time,
                        window < longest_window ? window : longest_window);
            else
                give_up();
            m_last = reading;
        }
        return time;
    }

  private:
    // What others may have been told at a tick by the present scale.
    int64_t last_told(uint64_t tick) const
    {
        if (m_version == 0)
            return INT64_MIN;
        const TickScale& present = scales[m_version % scale_count];
        return present.time_at(tick - present.origin < present.span ? tick : present.origin + present.span);
    }

    // In integers: exceptions of floating-point numbers would be the program's. False if it is another one
    // than before, or none at all.
    bool measure_rate(const Reading& reading, int64_t window)
    {
        const uint64_t former = m_rate, tolerance = former / steady_part;
        const uint64_t ticks = reading.tick - m_last.tick;
        m_rate = ticks > 0 ? scaled(static_cast<uint64_t>(window), 1ull << rate_bits, ticks) : 0;
        return m_rate > 0 && (former == 0 || (m_rate > former - tolerance && m_rate < former + tolerance));
    }

    static void give_up()
    {
        __atomic_store_n(&counter_is_steady, false, __ATOMIC_RELAXED);
        __atomic_store_n(&scale_version, 0, __ATOMIC_RELEASE);
    }

    // A scale that is ahead of the clock goes more slowly, so that they meet at its end.
    void publish(uint64_t tick, int64_t time, int64_t ahead, int64_t window)
    {
        const auto duration = static_cast<uint64_t>(window);
        const uint64_t slowed =
            ahead < window ? scaled(m_rate, static_cast<uint64_t>(window - ahead), duration) : 0;
        if (++m_version == 0)
            m_version = scale_count; // 0 means that there is none
        TickScale& next = scales[m_version % scale_count];
        // Whoever reads what is written from here on must find that the versions before it are there, or
        // would not know that the scale is being overwritten: hence every store releases. (A fence would
        // do as well, but ThreadSanitizer does not know them.)
        __atomic_store_n(&next.origin, tick, __ATOMIC_RELEASE);
        __atomic_store_n(&next.span, (duration << rate_bits) / m_rate, __ATOMIC_RELEASE);
        __atomic_store_n(&next.time, time, __ATOMIC_RELEASE);
        __atomic_store_n(&next.rate, slowed, __ATOMIC_RELEASE);
        __atomic_store_n(&scale_version, m_version, __ATOMIC_RELEASE);
    }

    int m_wide_readings = 0;
    Reading m_last;
    uint64_t m_rate = 0; ///< nanoseconds per tick, times 2^rate_bits
    uint32_t m_version = 0;
};

constinit Adjustment adjustment;

} // namespace

int64_t monotonic_time_slowly()
{
    // Nobody waits for another thread that is at it, nor for the thread that this signal handler interrupts.
    if (!__atomic_load_n(&counter_is_steady, __ATOMIC_RELAXED) ||
        __atomic_test_and_set(&is_adjusting, __ATOMIC_ACQUIRE))
        return read_clock(CLOCK_MONOTONIC);
    const int64_t time = adjustment.adjust(read_both());
    __atomic_clear(&is_adjusting, __ATOMIC_RELEASE);
    return time;
}

#else

int64_t monotonic_time_slowly()
{
    return read_clock(CLOCK_MONOTONIC);
}

#endif

} // namespace detail

} // namespace hdtrace
