#include "merger/export/chrome/traffic.h"

#include <algorithm>

#include "hdtrace/matching/saturated.h"

namespace hdtrace::exporter::chrome {

TrafficKind traffic_kind(const CallFacts& facts)
{
    if (facts.access != WindowAccess::none)
        return TrafficKind::one_sided;
    if (facts.file != FileAccess::none)
        return TrafficKind::files;
    return facts.collective != CollectiveKind::none ? TrafficKind::collectives : TrafficKind::messages;
}

std::string_view traffic_name(TrafficKind kind)
{
    switch (kind) {
    case TrafficKind::messages:
        return "messages";
    case TrafficKind::collectives:
        return "collective operations";
    case TrafficKind::one_sided:
        return "one-sided communication";
    case TrafficKind::files:
        return "files";
    }
    return {};
}

void BytesInFlight::tell_before(std::int64_t now, const OnChange& on_change)
{
    while (!m_changes.empty() && m_changes.top().time < now) {
        const auto [time, kind, ignored] = m_changes.top();
        std::uint64_t& sum = m_sums[static_cast<std::size_t>(kind)];
        for (; !m_changes.empty() && m_changes.top().time == time && m_changes.top().kind == kind;
             m_changes.pop())
            sum += static_cast<std::uint64_t>(m_changes.top().bytes);
        on_change(time, kind, static_cast<std::int64_t>(sum));
    }
}

void Bandwidth::add(TrafficKind kind, std::int64_t begin, std::int64_t end, std::int64_t bytes)
{
    const auto which = static_cast<std::size_t>(kind);
    const std::int64_t last = saturated_difference(std::max(begin, end), m_origin);
    const std::size_t to = interval_at(last); // first, because it may change the intervals
    const std::int64_t first = saturated_difference(begin, m_origin);
    const std::size_t from = interval_at(first);
    if (from == to) {
        m_intervals[to][which] += static_cast<double>(bytes);
        return;
    }
    const double per_nanosecond = static_cast<double>(bytes) / static_cast<double>(last - first);
    for (std::size_t i = from; i <= to; ++i) {
        const std::int64_t here = static_cast<std::int64_t>(i) * m_length;
        const std::int64_t there = i == to ? last : here + m_length;
        m_intervals[i][which] += per_nanosecond * static_cast<double>(there - std::max(first, here));
    }
}

std::size_t Bandwidth::interval_at(std::int64_t time)
{
    time = std::max<std::int64_t>(time, 0);
    while (time / m_length >= static_cast<std::int64_t>(most_intervals))
        double_intervals();
    const auto position = static_cast<std::size_t>(time / m_length);
    m_intervals.resize(std::max(m_intervals.size(), position + 1));
    return position;
}

void Bandwidth::double_intervals()
{
    std::vector<Interval> longer((m_intervals.size() + 1) / 2);
    for (std::size_t i = 0; i < m_intervals.size(); ++i)
        for (std::size_t kind = 0; kind < traffic_kinds; ++kind)
            longer[i / 2][kind] += m_intervals[i][kind];
    m_intervals = std::move(longer);
    m_length *= 2;
}

void Bandwidth::tell(const OnChange& on_change) const
{
    const double seconds = static_cast<double>(m_length) / 1e9;
    for (std::size_t kind = 0; kind < traffic_kinds; ++kind) {
        double before = 0;
        for (std::size_t i = 0; i <= m_intervals.size(); ++i) {
            const double bytes = i < m_intervals.size() ? m_intervals[i][kind] : 0;
            if (bytes != before)
                on_change(saturated_sum(m_origin, static_cast<std::int64_t>(i) * m_length),
                          static_cast<TrafficKind>(kind), bytes / seconds);
            before = bytes;
        }
    }
}

} // namespace hdtrace::exporter::chrome
