#include "hdtrace/report/shares.h"

#include <algorithm>
#include <cmath>

namespace hdtrace::report {

Shares::Shares(std::size_t parts, std::int64_t duration)
    : m_parts(parts),
      m_width(static_cast<double>(std::max<std::int64_t>(duration, 1)) / static_cast<double>(parts))
{
}

void Shares::add(std::size_t kind, std::int64_t begin, std::int64_t end)
{
    std::vector<float>& times = m_times[kind];
    if (times.empty())
        times.resize(m_parts);
    const double last_part = static_cast<double>(m_parts);
    double from = std::clamp(static_cast<double>(begin) / m_width, 0.0, last_part);
    const double to = std::clamp(static_cast<double>(end) / m_width, 0.0, last_part);
    while (from < to) {
        const double next = std::min(std::floor(from) + 1, to);
        times[std::min(static_cast<std::size_t>(from), m_parts - 1)] += static_cast<float>(next - from);
        from = next;
    }
}

void Shares::pack(Packed& into) const
{
    into.add(static_cast<std::uint64_t>(
        std::ranges::count_if(m_times, [](const auto& one) { return !one.empty(); })));
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (m_times[kind].empty())
            continue;
        into.add(kind);
        for (const float time : m_times[kind])
            into.add_byte(static_cast<std::uint8_t>(std::lround(std::min(time, 1.0F) * 255)));
    }
}

} // namespace hdtrace::report
