#include "hdtrace/writer/clock.h"

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

} // namespace hdtrace
