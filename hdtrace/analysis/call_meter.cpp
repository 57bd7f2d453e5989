#include "hdtrace/analysis/call_meter.h"

#include <algorithm>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {

Totals CallMeter::measure(const Call& call)
{
    const std::int64_t time = saturated_difference(call.state.end, call.state.time);
    m_volume = m_volumes.of(call);
    return {.calls = 1,
            .time = time,
            .exclusive = exclusive_time(call, time),
            .shortest = time,
            .longest = time,
            .bytes = bytes_of(call, m_volume),
            .volume = m_volume.value_or(Volume())};
}

// Those that ended inside a call or region did so one level below it. What began before anything was read can
// seem to be longer than what it is in.
std::int64_t CallMeter::exclusive_time(const Call& call, std::int64_t time)
{
    if (m_last_trace != &call.trace) {
        m_last_trace = &call.trace;
        m_last_inside = &inside(call.trace);
    }
    std::vector<std::int64_t>& inside = *m_last_inside;
    const auto depth = static_cast<std::size_t>(call.depth);
    if (inside.size() < depth + 2)
        inside.resize(depth + 2);
    // From when another region overlaps with it on, the time is of that one, which stands in its place then.
    const std::int64_t alone =
        call.overlapped_from ? saturated_difference(*call.overlapped_from, call.state.time) : time;
    const std::int64_t exclusive = std::max<std::int64_t>(0, saturated_difference(alone, inside[depth + 1]));
    inside[depth] = saturated_sum(inside[depth], alone);
    if (call.overlapped_from)
        inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    else
        inside[depth + 1] = 0;
    return exclusive;
}

} // namespace hdtrace
