#include "hdtrace/checking/wait_graph.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace hdtrace {
namespace {

using Ranks = std::set<std::int64_t>;

/// Whether all of them are so, or any, as is asked for; of none it is true.
template <class List, class Predicate> bool holds(WaitCondition::Of of, const List& list, Predicate predicate)
{
    return list.empty() || (of == WaitCondition::Of::all ? std::ranges::all_of(list, predicate)
                                                         : std::ranges::any_of(list, predicate));
}

/// The strongly connected components of a graph whose nodes are numbers from 0 on (R. Tarjan, 1972), without
/// recursion.
class Components {
  public:
    using Node = std::size_t;
    using Edges = std::vector<std::vector<Node>>;

    explicit Components(const Edges& edges) : m_edges(edges), m_states(edges.size()) {}

    /// Those that no edge leaves.
    std::vector<std::vector<Node>> sinks()
    {
        for (Node node = 0; node < m_edges.size(); ++node)
            if (m_states[node].index < 0)
                visit_from(node);
        std::erase_if(m_found, [&](const std::vector<Node>& component) { return !is_sink(component); });
        return std::move(m_found);
    }

  private:
    struct State {
        int index = -1;
        int lowest = 0;
        bool is_open = false;
        std::size_t component = 0;
    };
    struct Visit {
        Node node;
        std::size_t next;
    };

    void enter(Node node)
    {
        m_states[node] = {m_entered, m_entered, true};
        ++m_entered;
        m_open.push_back(node);
        m_path.push_back({node, 0});
    }

    void visit_from(Node start)
    {
        enter(start);
        while (!m_path.empty()) {
            const Node node = m_path.back().node;
            if (m_path.back().next == m_edges[node].size()) {
                leave(node);
                continue;
            }
            const Node other = m_edges[node][m_path.back().next++];
            if (m_states[other].index < 0)
                enter(other);
            else if (m_states[other].is_open)
                lower(node, m_states[other].index);
        }
    }

    void leave(Node node)
    {
        m_path.pop_back();
        if (!m_path.empty())
            lower(m_path.back().node, m_states[node].lowest);
        if (m_states[node].lowest != m_states[node].index)
            return;
        std::vector<Node>& component = m_found.emplace_back();
        for (bool is_more = true; is_more;) {
            const Node last = m_open.back();
            m_open.pop_back();
            m_states[last].is_open = false;
            m_states[last].component = m_found.size();
            component.push_back(last);
            is_more = last != node;
        }
    }

    void lower(Node node, int index) { m_states[node].lowest = std::min(m_states[node].lowest, index); }

    bool is_sink(const std::vector<Node>& component) const
    {
        const std::size_t own = m_states[component.front()].component;
        return std::ranges::all_of(component, [&](Node node) {
            return std::ranges::all_of(m_edges[node],
                                       [&](Node other) { return m_states[other].component == own; });
        });
    }

    const Edges& m_edges;
    std::vector<State> m_states;
    int m_entered = 0;
    std::vector<Node> m_open;
    std::vector<Visit> m_path;
    std::vector<std::vector<Node>> m_found;
};

class Finder {
  public:
    Finder(const std::map<std::int64_t, Wait>& waits, const Ranks& gone) : m_waits(waits), m_gone(gone)
    {
        for (const auto& [rank, wait] : waits)
            for (const WaitCondition& condition : wait.conditions)
                group_of(condition).waiters.push_back(rank);
    }

    StuckProcesses find()
    {
        StuckProcesses stuck;
        let_go_on();
        for (const auto& [rank, wait] : m_waits)
            if (!m_gone.contains(rank) && !m_going.contains(rank))
                stuck.all.insert(rank);
        for (const std::int64_t rank : stuck.all)
            stuck.awaited[rank] = in_vain(m_waits.at(rank));
        stuck.circles = circles_of(stuck);
        return stuck;
    }

  private:
    /// Ranks that conditions share.
    struct Group {
        std::size_t size = 0;
        std::size_t going = 0; ///< how many of them go on
        std::vector<std::int64_t> waiters = {};
        std::optional<SharedRanks> idle = {}; ///< the others, once they are asked for
    };

    Group& group_of(const WaitCondition& condition)
    {
        const auto [found, is_new] = m_groups.try_emplace(&*condition.ranks);
        if (!is_new)
            return found->second;
        found->second.size = condition.ranks->size();
        for (const std::int64_t rank : *condition.ranks) {
            if (m_waits.contains(rank) || m_gone.contains(rank))
                m_groups_with[rank].push_back(&found->second);
            else
                ++found->second.going;
        }
        return found->second;
    }

    /// Of a process that does not go on itself.
    bool is_fulfilled(const WaitCondition& condition)
    {
        const std::size_t size = condition.size(), going = group_of(condition).going;
        return size == 0 || (condition.of == WaitCondition::Of::all ? going == size : going > 0);
    }

    void let_go_on()
    {
        std::vector<std::int64_t> asked;
        for (const auto& [rank, ignored] : m_waits)
            asked.push_back(rank);
        while (!asked.empty()) {
            const std::int64_t rank = asked.back();
            asked.pop_back();
            const Wait& wait = m_waits.at(rank);
            const auto is_over = [this](const WaitCondition& condition) { return is_fulfilled(condition); };
            if (m_gone.contains(rank) || m_going.contains(rank) || !holds(wait.of, wait.conditions, is_over))
                continue;
            m_going.insert(rank);
            for (Group* const group : m_groups_with[rank]) {
                // Only then a condition of any of them may become true, or one of all, with or without a
                // process itself.
                if (++group->going == 1 || group->going + 1 >= group->size)
                    asked.insert(asked.end(), group->waiters.begin(), group->waiters.end());
            }
        }
    }

    std::vector<WaitCondition> in_vain(const Wait& wait)
    {
        std::vector<WaitCondition> awaited;
        for (const WaitCondition& condition : wait.conditions)
            if (!is_fulfilled(condition))
                awaited.push_back({condition.of, idle_of(condition), condition.except});
        return awaited;
    }

    const SharedRanks& idle_of(const WaitCondition& condition)
    {
        Group& group = group_of(condition);
        if (!group.idle) {
            Ranks idle;
            std::ranges::copy_if(
                *condition.ranks, std::inserter(idle, idle.end()), [this](std::int64_t rank) {
                    return !m_going.contains(rank) && (m_waits.contains(rank) || m_gone.contains(rank));
                });
            group.idle = std::move(idle);
        }
        return *group.idle;
    }

    /// A node of the graph is a process, or ranks that are awaited, or all that is gone, where no circle is.
    static std::vector<Circle> circles_of(const StuckProcesses& stuck)
    {
        const std::vector<std::int64_t> ranks(stuck.all.begin(), stuck.all.end());
        const Components::Node gone = ranks.size();
        Components::Edges edges(gone + 1);
        const auto node_of = [&](std::int64_t rank) {
            const auto found = std::ranges::lower_bound(ranks, rank);
            return found != ranks.end() && *found == rank
                       ? static_cast<Components::Node>(found - ranks.begin())
                       : gone;
        };
        std::unordered_map<const Ranks*, Components::Node> groups;
        for (const auto& [rank, awaited] : stuck.awaited) {
            for (const WaitCondition& condition : awaited) {
                const auto [group, is_new] = groups.try_emplace(&*condition.ranks, edges.size());
                if (is_new)
                    std::ranges::transform(*condition.ranks, std::back_inserter(edges.emplace_back()),
                                           node_of);
                edges[node_of(rank)].push_back(group->second);
            }
        }
        std::vector<Circle> circles;
        for (const std::vector<Components::Node>& component : Components(edges).sinks()) {
            Circle circle;
            for (const Components::Node node : component)
                if (node < gone)
                    circle.insert(ranks[node]);
            if (!circle.empty())
                circles.push_back(std::move(circle));
        }
        return circles;
    }

    const std::map<std::int64_t, Wait>& m_waits;
    const Ranks& m_gone;
    std::unordered_map<const Ranks*, Group> m_groups;
    std::unordered_map<std::int64_t, std::vector<Group*>> m_groups_with;
    std::unordered_set<std::int64_t> m_going; ///< of those that wait
};

} // namespace

StuckProcesses find_stuck(const std::map<std::int64_t, Wait>& waits, const Ranks& gone)
{
    return Finder(waits, gone).find();
}

} // namespace hdtrace
