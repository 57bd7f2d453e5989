#include "hdtrace/matching/collectives.h"

#include <algorithm>
#include <utility>

namespace hdtrace {

CollectiveMatcher::CollectiveMatcher(const ObjectTable& objects, OnCollective on_collective,
                                     std::set<std::int64_t> absent)
    : m_objects(objects), m_on_collective(std::move(on_collective)), m_absent(std::move(absent))
{
}

void CollectiveMatcher::joined(const Call& call)
{
    if (call.facts.members != CollectiveMembers::communicator || call.is_inside_call)
        return;
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    if (const Communicator* communicator = m_objects.communicator(rank, state))
        add_call(*communicator,
                 {rank, call.trace.thread, state.name, state.time, state.end, state.integer("rootRank"),
                  volume_of(m_objects, call).value_or(Volume()).moved(), state.line});
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
