#include "hdtrace/writer/clock.h"

namespace hdtrace {

int64_t clock_offset()
{
    static int64_t taken = 0;
    int64_t offset = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
    if (offset != 0)
        return offset;
    const int64_t fresh = detail::read_clock(CLOCK_REALTIME) - detail::read_clock(CLOCK_MONOTONIC);
    // Whoever comes first sets it for all threads.
    if (__atomic_compare_exchange_n(&taken, &offset, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    return offset;
}

} // namespace hdtrace
