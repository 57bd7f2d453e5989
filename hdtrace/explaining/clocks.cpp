#include "hdtrace/explaining/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "hdtrace/explaining/clock_fit.h"
#include "hdtrace/explaining/clock_line.h"

namespace hdtrace {
namespace {

using Life = HostOrders::Life;

void add_bounds(std::vector<ClockBound>& bounds, HostNumber host, HostNumber known, const HostClock& clock,
                const HostOrders& found)
{
    if (const auto to = found.orders.find({known, host}); to != found.orders.end())
        for (const ClockOrder& order : to->second)
            bounds.push_back({order.after, clock.corrected(order.before) - order.after, true});
    if (const auto from = found.orders.find({host, known}); from != found.orders.end())
        for (const ClockOrder& order : from->second)
            bounds.push_back({order.before, clock.corrected(order.after) - order.before, false});
}

void sort(std::vector<ClockBound>& bounds)
{
    std::ranges::sort(bounds, {}, [](const ClockBound& bound) {
        return std::tuple(bound.time, bound.is_lower, bound.value);
    });
}

std::optional<double> sum(std::optional<double> one, std::optional<double> other)
{
    return one && other ? std::optional(*one + *other) : std::nullopt;
}

/// Compares hosts with each other, beginning with those of which most is known.
class Comparison {
  public:
    explicit Comparison(const HostOrders& found)
        : m_found(found), m_clocks(found.hosts.size()), m_fits(found.hosts.size()),
          m_candidates(found.hosts.size()), m_neighbours(found.hosts.size()),
          m_state(found.hosts.size(), State::unknown)
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
            ClockFit fit(bounds, m_found.lives[host]);
            HostClock clock{m_found.hosts[host], fit.parts(),
                            sum(fit.uncertainty(), m_clocks[known].uncertainty)};
            if (m_candidates[host] && !is_better(clock, *m_candidates[host]))
                continue;
            m_candidates[host] = std::move(clock);
            m_fits[host] = std::move(fit);
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
        constexpr int most_rounds = 20, round_of_bending = 10;
        bool is_settled = false;
        for (int round = 0; round < most_rounds && !is_settled; ++round) {
            is_settled = true;
            for (const HostNumber host : m_reached)
                if (m_state[host] == State::compared && m_neighbours[host].size() > 1 && !fits(host)) {
                    move(host, round >= round_of_bending);
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
    void move(HostNumber host, bool may_bend)
    {
        HostClock& clock = m_clocks[host];
        const HostClock before = clock;
        const std::vector<ClockBound> bounds = all_bounds(host);
        if (may_bend)
            m_fits[host] = ClockFit(bounds, m_found.lives[host]);
        else
            m_fits[host]->fit(bounds);
        clock.parts = m_fits[host]->parts();
        clock.uncertainty = sum(clock.uncertainty, distance(before, clock, m_found.lives[host]));
    }

    static double distance(const HostClock& one, const HostClock& other, const Life& life)
    {
        std::int64_t distance = 0;
        const auto compare_at = [&](std::int64_t time) {
            distance = std::max(distance, std::abs(one.corrected(time) - other.corrected(time)));
        };
        compare_at(life.begin);
        compare_at(life.end);
        for (const HostClock* clock : {&one, &other})
            for (std::size_t i = 1; i < clock->parts.size(); ++i)
                compare_at(clock->parts[i].from);
        return static_cast<double>(distance);
    }

    const HostOrders& m_found;
    std::vector<HostClock> m_clocks;
    std::vector<std::optional<ClockFit>> m_fits;        ///< of those that are no reference
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
    return hosts_of(project).size() > 1 ? compare_clocks(find_host_orders(project))
                                        : std::vector<HostClock>();
}

std::int64_t count_reversed(const History& history)
{
    std::int64_t count = 0;
    for (const Need& need : history.needs) {
        const CallFacts* const call = history.place(need.call).call;
        const bool is_probe = call && call->probes != ProbeKind::none; // the message is received besides
        count += need.kind == WaitKind::late_sender && !is_probe &&
                 history.step(need.of).begin > history.step(need.call).end;
    }
    return count;
}

} // namespace hdtrace
