#include "hdtrace/checking/waiting_calls.h"

#include <algorithm>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

bool is_collective_of_communicator(const Call& call)
{
    return call.facts.members == CollectiveMembers::communicator && !call.is_inside_call;
}

/// From whom a receive from any source may get something.
std::set<std::int64_t> others_in(const Communicator& communicator, std::int64_t rank)
{
    const auto own = std::ranges::find(communicator.members, rank, &Communicator::Member::global);
    std::set<std::int64_t> others;
    for (const Communicator::Member& member : communicator.members) {
        const bool is_other_side =
            !member.group || own == communicator.members.end() || own->group != member.group;
        if (member.global != rank && is_other_side)
            others.insert(member.global);
    }
    return others;
}

Wait only(Condition condition)
{
    return {Condition::Of::all, {std::move(condition)}};
}

} // namespace

void WaitingCalls::leave(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.is_inside_call || call.facts.call_class == CallClass::other)
        return;
    if (m_threads.try_emplace(rank, call.trace.thread).first->second != call.trace.thread)
        m_with_threads.insert(rank);
    if (call.facts.life == LifeCycle::ends)
        (call.state.is_unfinished() ? m_finalizing : m_ended).insert(rank);
    if (call.state.is_unfinished())
        m_unfinished[rank] = {call.trace, call.state, &call.facts};
}

void WaitingCalls::joined(const Call& call)
{
    const Communicator* communicator = m_objects.communicator(call.trace.rank, call.state);
    if (!is_collective_of_communicator(call) || !communicator)
        return;
    const std::int64_t number = m_calls[{communicator, call.trace.rank}]++;
    if (const auto rid = call.state.integer("rid"))
        m_collectives[{call.trace.rank, *rid}] = {communicator, number};
}

void WaitingCalls::completed(const Call& call, const Completion& completion)
{
    m_collectives.erase({call.trace.rank, completion.rid});
}

std::map<std::int64_t, WaitingCall> WaitingCalls::find(std::int64_t process_count)
{
    for (const auto& [rank, call] : m_unfinished) {
        if (m_left_out.contains(rank))
            continue;
        m_open.add_in_progress(call.trace, call.state, *call.facts);
        const Communicator* communicator = m_objects.communicator(rank, call.state);
        if (communicator && call.facts->members == CollectiveMembers::communicator)
            ++m_calls[{communicator, rank}];
    }
    m_open.match();
    std::map<std::int64_t, WaitingCall> waiting;
    for (const auto& [rank, call] : m_unfinished) {
        if (!m_with_threads.contains(rank) && !m_left_out.contains(rank))
            waiting[rank] = {call.trace.thread, call.state.line, m_objects.call_site(rank, call.state),
                             call_words(call.state), wait_of(rank, call, process_count)};
    }
    return waiting;
}

Wait WaitingCalls::wait_of(std::int64_t rank, const Unfinished& call, std::int64_t process_count) const
{
    const CallFacts& facts = *call.facts;
    if (facts.life == LifeCycle::ends)
        return only(finalized_by_all(process_count));
    if (facts.progress == CallProgress::waits)
        return wait_for_requests(rank, call);
    if (facts.progress != CallProgress::blocking)
        return {};
    if (facts.members == CollectiveMembers::communicator) {
        const Communicator* communicator = m_objects.communicator(rank, call.state);
        return communicator ? only(condition_of(rank, Place{communicator, calls_of(*communicator, rank) - 1}))
                            : Wait();
    }
    Wait wait;
    if (const OpenEnd* send = m_open.send_of(rank, OpenEnd::in_progress))
        wait.conditions.push_back(condition_of(*send, true));
    if (const OpenEnd* receive = m_open.receive_of(rank, OpenEnd::in_progress))
        wait.conditions.push_back(condition_of(*receive, false));
    return wait;
}

Wait WaitingCalls::wait_for_requests(std::int64_t rank, const Unfinished& call) const
{
    Wait wait;
    const bool all =
        call.facts->completes == WhichRequests::all || call.facts->completes == WhichRequests::one;
    wait.of = all ? Condition::Of::all : Condition::Of::any;
    for (const Element& child : call.state.children)
        if (const auto rid = child.integer("rid"); rid && child.name == "Pending")
            wait.conditions.push_back(condition_of(rank, *rid));
    return wait;
}

Condition WaitingCalls::condition_of(std::int64_t rank, std::int64_t rid) const
{
    if (const auto collective = m_collectives.find({rank, rid}); collective != m_collectives.end())
        return condition_of(rank, collective->second);
    if (const OpenEnd* send = m_open.send_of(rank, rid))
        return condition_of(*send, true);
    if (const OpenEnd* receive = m_open.receive_of(rank, rid))
        return condition_of(*receive, false);
    return {};
}

Condition WaitingCalls::condition_of(const OpenEnd& end, bool is_send) const
{
    if (end.other)
        return {};
    if (is_send)
        return {Condition::Of::all, {end.destination}};
    if (end.source != any_rank)
        return {Condition::Of::all, {end.source}};
    return {Condition::Of::any,
            end.communicator ? others_in(*end.communicator, end.destination) : std::set<std::int64_t>()};
}

/// All members that have not called it.
Condition WaitingCalls::condition_of(std::int64_t rank, const Place& place) const
{
    const auto& [communicator, number] = place;
    Condition condition;
    for (const Communicator::Member& member : communicator->members)
        if (member.global != rank && calls_of(*communicator, member.global) <= number)
            condition.ranks.insert(member.global);
    return condition;
}

Condition WaitingCalls::finalized_by_all(std::int64_t process_count) const
{
    Condition condition;
    for (std::int64_t rank = 0; rank < process_count; ++rank)
        if (!m_ended.contains(rank) && !m_finalizing.contains(rank))
            condition.ranks.insert(rank);
    return condition;
}

std::int64_t WaitingCalls::calls_of(const Communicator& communicator, std::int64_t rank) const
{
    const auto found = m_calls.find({&communicator, rank});
    return found == m_calls.end() ? 0 : found->second;
}

} // namespace hdtrace
