#include "hdtrace/format/host_clock.h"

#include <algorithm>
#include <cmath>

namespace hdtrace {
namespace {

std::int64_t within_limits(std::int64_t time)
{
    return std::clamp(time, -HostClock::latest, HostClock::latest);
}

std::int64_t rounded(double time)
{
    constexpr auto latest = static_cast<double>(HostClock::latest);
    return std::llround(std::clamp(time, -latest, latest));
}

/// As if the part lasted until then.
std::int64_t added_at(std::int64_t time, const HostClock::Part& part)
{
    return part.offset + rounded(part.drift * static_cast<double>(time - part.from));
}

void correct_inside(const HostClock& clock, State& state, std::int64_t earliest)
{
    state.time = std::max(clock.corrected(state.time), earliest);
    state.end = std::max(clock.corrected(state.end), state.time);
    for (State& nested : state.nested)
        correct_inside(clock, nested, state.time);
}

} // namespace

std::int64_t HostClock::corrected(std::int64_t time) const
{
    const auto behind = std::ranges::upper_bound(parts.begin() + 1, parts.end(), time, {}, &Part::from);
    const Part& part = *(behind - 1);
    const std::int64_t known = within_limits(time);
    return within_limits(known + added_at(known, part));
}

std::int64_t HostClock::jump(std::size_t part) const
{
    constexpr std::int64_t rounding = 2;
    if (part == 0)
        return 0;
    const std::int64_t jump = parts[part].offset - added_at(parts[part].from, parts[part - 1]);
    return std::abs(jump) > rounding ? jump : 0;
}

std::int64_t HostClock::recorded(std::int64_t time) const
{
    constexpr double rounding = 1e-15; // of what a double can tell
    const std::int64_t known = within_limits(time);
    std::int64_t recorded = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Part& part = parts[i];
        const double since = static_cast<double>(known - part.from - part.offset) / (1 + part.drift);
        recorded = within_limits(part.from + rounded(since - std::abs(since) * rounding - 1));
        if (i > 0)
            recorded = std::max(recorded, part.from);
        if (i + 1 < parts.size() && recorded < parts[i + 1].from)
            break;
    }
    return recorded;
}

bool HostClock::is_right() const
{
    return std::ranges::all_of(parts, [](const Part& part) { return part.offset == 0 && part.drift == 0; });
}

void TimeCorrection::correct(State& state)
{
    const bool is_behind = state.time >= m_recorded_end; // others overlap as they did
    m_recorded_end = std::max(m_recorded_end, state.end);
    correct_inside(*m_clock, state, is_behind ? m_end : m_begin);
    m_begin = state.time;
    m_end = std::max(m_end, state.end);
}

} // namespace hdtrace
