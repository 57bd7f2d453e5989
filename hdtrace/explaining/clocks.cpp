#include "hdtrace/explaining/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "hdtrace/explaining/clock_line.h"

namespace hdtrace {
namespace {

using Host = std::uint32_t;

/// A moment by the clock of one host is not after a moment by that of another one.
struct Order {
    std::int64_t before = 0;
    std::int64_t after = 0;
};
using Hosts = std::pair<Host, Host>; // of before and of after
using Orders = std::map<Hosts, std::vector<Order>>;

class OrderFinder {
  public:
    OrderFinder(const History& history, const std::vector<Host>& host_of)
        : m_history(history), m_host_of(host_of)
    {
    }

    Orders find()
    {
        for (std::size_t i = 0; i < m_history.needs.size(); ++i)
            add(m_history.needs[i].of, m_history.needs[i].call);
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i)
            add_gathering(m_history.gatherings[i]);
        return std::move(m_orders);
    }

  private:
    void add(StepId before, StepId after)
    {
        const Host one = m_host_of[before.timeline], other = m_host_of[after.timeline];
        if (one != other)
            m_orders[{one, other}].push_back({m_history.step(before).begin, m_history.step(after).end});
    }

    void add_gathering(const Gathering& gathering)
    {
        const auto& members = gathering.members;
        const WaitKindFacts& kind = facts_of(gathering.kind);
        const bool has_root = gathering.root >= 0 && gathering.root < std::ssize(members);
        if (kind.awaited == Awaited::all && !kind.may_return_early) {
            add_all(members);
        } else if (kind.awaited == Awaited::root && has_root) {
            for (const Gathering::Member& member : members)
                if (member.has_ended)
                    add(members[gathering.root].call, member.end);
        } else if (kind.awaited == Awaited::others && has_root && members[gathering.root].has_ended) {
            for (const Gathering::Member& member : members)
                add(member.call, members[gathering.root].end);
        }
    }

    /// Of each host only the last one that comes and the first one that leaves tell something.
    void add_all(const std::vector<Gathering::Member>& members)
    {
        std::map<Host, StepId> last, first;
        for (const Gathering::Member& member : members) {
            const Host host = m_host_of[member.call.timeline];
            const auto comes = last.try_emplace(host, member.call).first;
            if (m_history.step(member.call).begin > m_history.step(comes->second).begin)
                comes->second = member.call;
            if (!member.has_ended)
                continue;
            const auto leaves = first.try_emplace(host, member.end).first;
            if (m_history.step(member.end).end < m_history.step(leaves->second).end)
                leaves->second = member.end;
        }
        for (const auto& [one, call] : last)
            for (const auto& [other, end] : first)
                add(call, end);
    }

    const History& m_history;
    const std::vector<Host>& m_host_of;
    Orders m_orders;
};

/// What the messages between two hosts, one of which has a clock that is known, tell about the other one.
std::vector<ClockBound> bounds_of(Host host, Host known, const HostClock& clock, const Orders& orders)
{
    std::vector<ClockBound> bounds;
    if (const auto to = orders.find({known, host}); to != orders.end())
        for (const Order& order : to->second)
            bounds.push_back({order.after, clock.corrected(order.before) - order.after, true});
    if (const auto from = orders.find({host, known}); from != orders.end())
        for (const Order& order : from->second)
            bounds.push_back({order.before, clock.corrected(order.after) - order.before, false});
    std::ranges::sort(bounds, {}, [](const ClockBound& bound) {
        return std::tuple(bound.time, bound.is_lower, bound.value);
    });
    return bounds;
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

/// As few parts as possible, as clocks are seldom set.
void fit(HostClock& clock, const std::vector<ClockBound>& bounds)
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
        const auto uncertainty = of_part.uncertainty(line);
        clock.uncertainty = clock.uncertainty && uncertainty
                                ? std::optional(std::max(*clock.uncertainty, *uncertainty))
                                : std::nullopt;
        first = end;
    }
}

} // namespace

std::int64_t HostClock::corrected(std::int64_t time) const
{
    const auto behind = std::ranges::upper_bound(parts.begin() + 1, parts.end(), time, {}, &Part::from);
    const Part& part = *(behind - 1);
    constexpr std::int64_t latest = std::int64_t{1} << 61; // as in histories
    return std::clamp<std::int64_t>(time + part.offset +
                                        std::llround(part.drift * static_cast<double>(time - part.from)),
                                    -latest, latest);
}

std::vector<HostClock> compare_clocks(const History& history, const std::vector<std::string>& hosts,
                                      const std::vector<Host>& host_of)
{
    std::vector<HostClock> clocks(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i)
        clocks[i].host = hosts[i];
    if (hosts.empty())
        return clocks;
    clocks.front().uncertainty = 0;
    const Orders orders = hosts.size() > 1 ? OrderFinder(history, host_of).find() : Orders();
    std::vector<Host> known = {0}; // in the order in which they became known
    std::vector<bool> is_known(hosts.size());
    is_known[0] = true;
    for (std::size_t i = 0; i < known.size(); ++i) {
        for (Host host = 0; host < hosts.size(); ++host) {
            if (is_known[host])
                continue;
            const auto bounds = bounds_of(host, known[i], clocks[known[i]], orders);
            if (bounds.empty())
                continue;
            fit(clocks[host], bounds);
            if (clocks[host].uncertainty && clocks[known[i]].uncertainty)
                *clocks[host].uncertainty += *clocks[known[i]].uncertainty;
            else
                clocks[host].uncertainty.reset();
            is_known[host] = true;
            known.push_back(host);
        }
    }
    return clocks;
}

void correct(History& history, const std::vector<HostClock>& clocks, const std::vector<Host>& host_of)
{
    for (std::size_t i = 0; i < history.timelines.size(); ++i) {
        const HostClock& clock = clocks[host_of[i]];
        Series<Step>& steps = history.timelines[i].steps;
        for (std::size_t step = 0; step < steps.size(); ++step) {
            // A clock that was set back cannot make time go back.
            const std::int64_t earliest = step > 0 ? steps[step - 1].end : INT64_MIN;
            steps[step].begin = std::max(clock.corrected(steps[step].begin), earliest);
            steps[step].end = std::max(clock.corrected(steps[step].end), steps[step].begin);
        }
    }
}

std::int64_t count_reversed(const History& history)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < history.needs.size(); ++i) {
        const Need& need = history.needs[i];
        count +=
            need.kind == WaitKind::late_sender && history.step(need.of).begin > history.step(need.call).end;
    }
    return count;
}

} // namespace hdtrace
