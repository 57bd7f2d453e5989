#include "hdtrace/explaining/clocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "hdtrace/explaining/clock_line.h"

namespace hdtrace {
namespace {

using Life = HostOrders::Life;

void add_bounds(std::vector<ClockBound>& bounds, HostNumber host, HostNumber known, const HostClock& clock,
                const HostOrders& found)
{
    if (const auto to = found.orders.find({known, host}); to != found.orders.end())
        for (const ClockOrder& order : to->second.all())
            bounds.push_back({order.after, clock.corrected(order.before) - order.after, true});
    if (const auto from = found.orders.find({host, known}); from != found.orders.end())
        for (const ClockOrder& order : from->second.all())
            bounds.push_back({order.before, clock.corrected(order.after) - order.before, false});
}

void sort(std::vector<ClockBound>& bounds)
{
    std::ranges::sort(bounds, {}, [](const ClockBound& bound) {
        return std::tuple(bound.time, bound.is_lower, bound.value);
    });
}

HostClock::Part part_of(const ClockLine& line, ClockBound origin, std::int64_t from)
{
    const double at_begin = line.offset + line.drift * static_cast<double>(from - origin.time);
    return {from, origin.value + std::llround(at_begin), line.drift};
}

constexpr std::size_t most_parts = 16;

bool fit_one_line(const std::vector<ClockBound>& bounds, std::size_t first, std::size_t last)
{
    return ClockBounds(bounds, first, last - first, bounds.front()).line().clearance >= 0;
}

/// Behind the most bounds from the first on that one line fits.
std::size_t end_of_line(const std::vector<ClockBound>& bounds, std::size_t first)
{
    if (fit_one_line(bounds, first, bounds.size()))
        return bounds.size();
    std::size_t fits = first + 1, too_many = bounds.size();
    while (too_many - fits > 1) {
        const std::size_t middle = fits + (too_many - fits) / 2;
        (fit_one_line(bounds, first, middle) ? fits : too_many) = middle;
    }
    return fits;
}

/// The bounds around the moment when a clock was set fit what was before as well as what came after. Nothing
/// happened while it was set, so that was in the longest pause between them.
std::size_t first_after_setting(const std::vector<ClockBound>& bounds, std::size_t first, std::size_t end)
{
    constexpr std::size_t looked_at = 64;
    const std::size_t last = std::min(end + looked_at, bounds.size());
    std::size_t begin = end;
    while (begin > first + 1 && end - begin < looked_at && fit_one_line(bounds, begin - 1, last))
        --begin;
    std::size_t after = end;
    for (std::size_t i = begin; i <= end; ++i)
        if (bounds[i].time - bounds[i - 1].time > bounds[after].time - bounds[after - 1].time)
            after = i;
    return after;
}

std::optional<double> larger(std::optional<double> one, std::optional<double> other)
{
    return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
}

std::optional<double> sum(std::optional<double> one, std::optional<double> other)
{
    return one && other ? std::optional(*one + *other) : std::nullopt;
}

/// As few parts as possible, as clocks are seldom set. How wrong it may be is said of the host's whole life,
/// in which no message may tell anything for a long time.
void fit(HostClock& clock, const std::vector<ClockBound>& bounds, const Life& life)
{
    const ClockBound origin = bounds.front();
    clock.parts.clear();
    clock.uncertainty = 0;
    for (std::size_t first = 0; first < bounds.size();) {
        std::size_t end = clock.parts.size() + 1 < most_parts ? end_of_line(bounds, first) : bounds.size();
        if (end < bounds.size())
            end = first_after_setting(bounds, first, end);
        const ClockBounds of_part(bounds, first, end - first, origin);
        const ClockLine line = of_part.line();
        const std::int64_t from =
            first > 0 ? std::midpoint(bounds[first - 1].time, bounds[first].time) : bounds.front().time;
        clock.parts.push_back(part_of(line, origin, from));
        const std::int64_t begins = first > 0 ? bounds[first].time : std::min(life.begin, from);
        const std::int64_t ends =
            end < bounds.size() ? bounds[end - 1].time : std::max(life.end, bounds.back().time);
        clock.uncertainty =
            larger(clock.uncertainty, of_part.uncertainty(line, static_cast<double>(begins - origin.time),
                                                          static_cast<double>(ends - origin.time)));
        first = end;
    }
}

/// Compares hosts with each other, beginning with those of which most is known.
class Comparison {
  public:
    explicit Comparison(const HostOrders& found)
        : m_found(found), m_clocks(found.hosts.size()), m_candidates(found.hosts.size()),
          m_neighbours(found.hosts.size()), m_state(found.hosts.size(), State::unknown)
    {
        for (std::size_t i = 0; i < m_clocks.size(); ++i)
            m_clocks[i].host = found.hosts[i];
        for (const auto& [hosts, orders] : found.orders) {
            m_neighbours[hosts.first].insert(hosts.second);
            m_neighbours[hosts.second].insert(hosts.first);
        }
    }

    std::vector<HostClock> compare()
    {
        for (HostNumber host = 0; host < m_clocks.size(); ++host) {
            if (m_state[host] != State::unknown)
                continue;
            m_clocks[host].uncertainty = host == 0 ? std::optional(0.0) : std::nullopt;
            m_state[host] = State::reference;
            m_reached = {host};
            look_around(host);
            while (add_best())
                ;
            settle();
        }
        return std::move(m_clocks);
    }

  private:
    enum class State { unknown, compared, reference };

    void look_around(HostNumber known)
    {
        for (const HostNumber host : m_neighbours[known]) {
            if (m_state[host] != State::unknown)
                continue;
            std::vector<ClockBound> bounds;
            add_bounds(bounds, host, known, m_clocks[known], m_found);
            sort(bounds);
            HostClock clock;
            clock.host = m_found.hosts[host];
            fit(clock, bounds, m_found.lives[host]);
            clock.uncertainty = sum(clock.uncertainty, m_clocks[known].uncertainty);
            if (!m_candidates[host] || is_better(clock, *m_candidates[host]))
                m_candidates[host] = std::move(clock);
        }
    }

    static bool is_better(const HostClock& clock, const HostClock& than)
    {
        return clock.uncertainty && (!than.uncertainty || *clock.uncertainty < *than.uncertainty);
    }

    bool add_best()
    {
        std::optional<HostNumber> best;
        for (HostNumber host = 0; host < m_candidates.size(); ++host)
            if (m_candidates[host] && (!best || is_better(*m_candidates[host], *m_candidates[*best])))
                best = host;
        if (!best)
            return false;
        m_clocks[*best] = std::move(*std::exchange(m_candidates[*best], std::nullopt));
        m_state[*best] = State::compared;
        m_reached.push_back(*best);
        look_around(*best);
        return true;
    }

    /// Each host was compared with one other host only: what it did with the rest may still seem reversed.
    void settle()
    {
        constexpr int most_rounds = 20;
        bool is_settled = false;
        for (int round = 0; round < most_rounds && !is_settled; ++round) {
            is_settled = true;
            for (const HostNumber host : m_reached)
                if (m_state[host] == State::compared && m_neighbours[host].size() > 1 && !fits(host)) {
                    move(host);
                    is_settled = false;
                }
        }
    }

    bool fits(HostNumber host) const
    {
        const std::vector<ClockBound> bounds = all_bounds(host);
        return std::ranges::all_of(bounds, [&](const ClockBound& bound) {
            const std::int64_t added = m_clocks[host].corrected(bound.time) - bound.time;
            return bound.is_lower ? added >= bound.value : added <= bound.value;
        });
    }

    std::vector<ClockBound> all_bounds(HostNumber host) const
    {
        std::vector<ClockBound> bounds;
        for (const HostNumber other : m_neighbours[host])
            add_bounds(bounds, host, other, m_clocks[other], m_found);
        sort(bounds);
        return bounds;
    }

    /// Between all others, as far as it can be.
    void move(HostNumber host)
    {
        HostClock& clock = m_clocks[host];
        const HostClock before = clock;
        const std::vector<ClockBound> bounds = all_bounds(host);
        std::size_t first = 0;
        for (std::size_t i = 0; i < clock.parts.size(); ++i) {
            const auto end =
                i + 1 < clock.parts.size()
                    ? std::ranges::lower_bound(bounds, clock.parts[i + 1].from, {}, &ClockBound::time)
                    : bounds.end();
            const auto count = static_cast<std::size_t>(end - bounds.begin()) - first;
            if (count > 0)
                clock.parts[i] = part_of(ClockBounds(bounds, first, count, bounds.front()).line(),
                                         bounds.front(), clock.parts[i].from);
            first += count;
        }
        clock.uncertainty = sum(clock.uncertainty, distance(before, clock, m_found.lives[host]));
    }

    static double distance(const HostClock& one, const HostClock& other, const Life& life)
    {
        std::int64_t distance = 0;
        for (const std::int64_t time : {life.begin, life.end})
            distance = std::max(distance, std::abs(one.corrected(time) - other.corrected(time)));
        return static_cast<double>(distance);
    }

    const HostOrders& m_found;
    std::vector<HostClock> m_clocks;
    std::vector<std::optional<HostClock>> m_candidates; ///< by host, as far as it meets a known one
    std::vector<std::set<HostNumber>> m_neighbours;
    std::vector<State> m_state;
    std::vector<HostNumber> m_reached; ///< from the present reference, in this order
};

} // namespace

std::vector<HostClock> compare_clocks(const HostOrders& orders)
{
    return Comparison(orders).compare();
}

std::vector<HostClock> compare_clocks(const OpenedProject& project)
{
    return hosts_of(project).size() > 1 ? compare_clocks(ClockOrderFinder(project).find())
                                        : std::vector<HostClock>();
}

std::int64_t count_reversed(const History& history)
{
    std::int64_t count = 0;
    for (const Need& need : history.needs)
        count +=
            need.kind == WaitKind::late_sender && history.step(need.of).begin > history.step(need.call).end;
    return count;
}

} // namespace hdtrace
