#include "hdtrace/matching/collectives.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hdtrace {
namespace {

// Of the class of collectives, but for one process alone.
constexpr std::string_view local_calls[] = {"Reduce_local", "Op_create", "Op_free", "Op_commutative"};

// Of other classes, but called by all members.
constexpr std::string_view makers[] = {
    "Comm_dup",
    "Comm_dup_with_info",
    "Comm_idup",
    "Comm_idup_with_info",
    "Comm_create",
    "Comm_split",
    "Comm_split_type",
    "Comm_free",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Dist_graph_create",
    "Dist_graph_create_adjacent",
    "Intercomm_merge",
    "File_open",
    "Win_create",
    "Win_allocate",
    "Win_allocate_shared",
    "Win_create_dynamic",
};

template <std::size_t size> bool is_in(const std::string_view (&names)[size], std::string_view name)
{
    return std::ranges::find(names, name) != std::end(names);
}

bool is_collective(std::string_view name)
{
    return class_of(name) == CallClass::collective ? !is_in(local_calls, name) : is_in(makers, name);
}

} // namespace

CollectiveMatcher::CollectiveMatcher(const ObjectTable& objects, OnCollective on_collective,
                                     std::set<std::int64_t> absent)
    : m_objects(objects), m_on_collective(std::move(on_collective)), m_absent(std::move(absent))
{
}

void CollectiveMatcher::add(const TraceFile& trace, const State& call)
{
    if (class_of(call.name) == CallClass::other) // a state of the program's own, around its calls
        for (const State& nested : call.nested)
            add(trace, nested);
    if (!is_collective(call.name) || call.find("rc"))
        return;
    if (const Communicator* communicator = m_objects.communicator(trace.rank, call))
        add_call(*communicator, {trace.rank, trace.thread, call.name, call.time, call.end,
                                 call.integer("rootRank"), call.integer("size").value_or(0), call.line});
}

std::size_t CollectiveMatcher::callers_of(const Communicator& communicator) const
{
    return std::ranges::count_if(communicator.members,
                                 [&](const auto& member) { return !m_absent.contains(member.global); });
}

void CollectiveMatcher::add_call(const Communicator& communicator, CollectiveCall call)
{
    const auto [found, is_new] = m_sequences.try_emplace(&communicator);
    Sequence& sequence = found->second;
    if (is_new)
        sequence.callers = callers_of(communicator);
    const std::int64_t number = sequence.calls_of[call.rank]++;
    const std::size_t place = static_cast<std::size_t>(number - sequence.done);
    if (place == sequence.open.size())
        sequence.open.push_back({&communicator, number, {}});
    sequence.open[place].calls.push_back(std::move(call));
    while (!sequence.open.empty() && sequence.open.front().calls.size() >= sequence.callers) {
        m_on_collective(sequence.open.front());
        sequence.open.pop_front();
        ++sequence.done;
    }
}

void CollectiveMatcher::finish()
{
    std::vector<std::pair<const Communicator*, Sequence>> rest(m_sequences.begin(), m_sequences.end());
    std::ranges::sort(rest, {}, &std::pair<const Communicator*, Sequence>::first); // the order of the project
    for (const auto& [communicator, sequence] : rest)
        for (const Collective& collective : sequence.open)
            m_on_collective(collective);
    m_sequences.clear();
}

} // namespace hdtrace
