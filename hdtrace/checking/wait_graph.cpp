#include "hdtrace/checking/wait_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hdtrace {
namespace {

using Ranks = std::set<std::int64_t>;

/// Whether all of them are so, or any, as is asked for; of none it is true.
template <class List, class Predicate> bool holds(WaitCondition::Of of, const List& list, Predicate predicate)
{
    return list.empty() || (of == WaitCondition::Of::all ? std::ranges::all_of(list, predicate)
                                                         : std::ranges::any_of(list, predicate));
}

template <class IsIdle> bool is_fulfilled(const WaitCondition& condition, IsIdle is_idle)
{
    return holds(condition.of, condition.ranks, [&](std::int64_t rank) { return !is_idle(rank); });
}

template <class IsIdle> bool is_fulfilled(const Wait& wait, IsIdle is_idle)
{
    return holds(wait.of, wait.conditions,
                 [&](const WaitCondition& condition) { return is_fulfilled(condition, is_idle); });
}

/// Those that wait for each rank.
std::map<std::int64_t, std::vector<std::int64_t>> waiters_of(const std::map<std::int64_t, Wait>& waits)
{
    std::map<std::int64_t, std::vector<std::int64_t>> waiters;
    for (const auto& [rank, wait] : waits)
        for (const WaitCondition& condition : wait.conditions)
            for (const std::int64_t awaited : condition.ranks)
                waiters[awaited].push_back(rank);
    return waiters;
}

/// The strongly connected components that no edge leaves (R. Tarjan, 1972), without recursion.
class Components {
  public:
    explicit Components(std::map<std::int64_t, Ranks> edges) : m_edges(std::move(edges)) {}

    std::vector<Circle> sinks()
    {
        for (const auto& [rank, ignored] : m_edges)
            if (!m_nodes.contains(rank))
                visit_from(rank);
        std::erase_if(m_found, [&](const Circle& component) { return !is_circle(component); });
        return std::move(m_found);
    }

  private:
    struct Node {
        int index;
        int lowest;
        bool is_open;
    };
    struct Visit {
        std::int64_t rank;
        Ranks::const_iterator next;
    };

    void enter(std::int64_t rank)
    {
        const int index = static_cast<int>(m_nodes.size());
        m_nodes[rank] = {index, index, true};
        m_open.push_back(rank);
        m_path.push_back({rank, m_edges[rank].begin()});
    }

    void visit_from(std::int64_t start)
    {
        enter(start);
        while (!m_path.empty()) {
            const std::int64_t rank = m_path.back().rank;
            if (m_path.back().next == m_edges[rank].end()) {
                leave(rank);
                continue;
            }
            const std::int64_t other = *m_path.back().next++;
            const auto known = m_nodes.find(other);
            if (known == m_nodes.end())
                enter(other);
            else if (known->second.is_open)
                lower(rank, known->second.index);
        }
    }

    void leave(std::int64_t rank)
    {
        const Node node = m_nodes[rank];
        m_path.pop_back();
        if (!m_path.empty())
            lower(m_path.back().rank, node.lowest);
        if (node.lowest != node.index)
            return;
        Circle& component = m_found.emplace_back();
        for (bool is_more = true; is_more;) {
            is_more = m_open.back() != rank;
            m_nodes[m_open.back()].is_open = false;
            component.insert(m_open.back());
            m_open.pop_back();
        }
    }

    void lower(std::int64_t rank, int index)
    {
        Node& node = m_nodes[rank];
        node.lowest = std::min(node.lowest, index);
    }

    bool is_circle(const Circle& component) const
    {
        return std::ranges::all_of(component, [&](std::int64_t rank) {
            const Ranks& awaited = m_edges.at(rank);
            return !awaited.empty() && std::ranges::all_of(awaited, [&](std::int64_t other) {
                return component.contains(other);
            });
        });
    }

    std::map<std::int64_t, Ranks> m_edges;
    std::map<std::int64_t, Node> m_nodes;
    std::vector<std::int64_t> m_open;
    std::vector<Visit> m_path;
    std::vector<Circle> m_found;
};

} // namespace

StuckProcesses find_stuck(const std::map<std::int64_t, Wait>& waits, const Ranks& gone)
{
    const auto waiters = waiters_of(waits);
    Ranks idle = gone;
    const auto is_idle = [&](std::int64_t rank) { return idle.contains(rank); };
    std::vector<std::int64_t> asked;
    for (const auto& [rank, ignored] : waits) {
        idle.insert(rank);
        asked.push_back(rank);
    }
    while (!asked.empty()) {
        const std::int64_t rank = asked.back();
        asked.pop_back();
        if (gone.contains(rank) || !idle.contains(rank) || !is_fulfilled(waits.at(rank), is_idle))
            continue;
        idle.erase(rank);
        if (const auto found = waiters.find(rank); found != waiters.end())
            asked.insert(asked.end(), found->second.begin(), found->second.end());
    }
    StuckProcesses stuck;
    std::map<std::int64_t, Ranks> edges;
    for (const auto& [rank, wait] : waits)
        if (idle.contains(rank) && !gone.contains(rank))
            stuck.all.insert(rank);
    for (const std::int64_t rank : stuck.all)
        edges[rank] = awaited_in_vain(waits.at(rank), stuck.all, gone);
    for (const std::int64_t rank : gone)
        edges[rank]; // whoever waits for it is in no circle
    stuck.circles = Components(std::move(edges)).sinks();
    return stuck;
}

Ranks awaited_in_vain(const Wait& wait, const Ranks& stuck, const Ranks& gone)
{
    const auto is_idle = [&](std::int64_t rank) { return stuck.contains(rank) || gone.contains(rank); };
    Ranks awaited;
    for (const WaitCondition& condition : wait.conditions)
        if (!is_fulfilled(condition, is_idle))
            std::ranges::copy_if(condition.ranks, std::inserter(awaited, awaited.end()), is_idle);
    return awaited;
}

} // namespace hdtrace
