#include "hdtrace/checking/waiting_calls.h"

#include <algorithm>
#include <deque>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

constexpr std::int64_t own_call = -2; // in the place of a request

using Mailbox = std::pair<const Communicator*, std::int64_t>; // and the rank that receives
using SourceAndTag = std::pair<std::int64_t, std::int64_t>;

bool is_collective_of_communicator(const Call& call)
{
    return call.facts.members == CollectiveMembers::communicator && !call.is_inside_call;
}

std::int64_t value_or(const Element& element, std::string_view name, std::int64_t otherwise)
{
    return element.integer(name).value_or(otherwise);
}

bool fits(std::int64_t wanted, std::int64_t value)
{
    return wanted == any_rank || wanted == value;
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
        m_unfinished[rank] = {call.state, call.trace.thread, &call.facts};
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

void WaitingCalls::add_rest(const Message& message)
{
    const auto end_of = [&](const MessageEnd& end) {
        return End{message.communicator, message.source, message.destination, message.tag, end.rid, end.time};
    };
    if (message.send && !message.receive)
        m_sends.push_back(end_of(*message.send));
    if (message.receive && !message.send)
        m_receives.push_back(end_of(*message.receive));
}

void WaitingCalls::add_blocking(std::int64_t rank, const Unfinished& call)
{
    const State& state = call.state;
    const Communicator* communicator = m_objects.communicator(rank, state);
    const std::int64_t to = value_or(state, "toRank", proc_null),
                       from = value_or(state, "fromRank", proc_null);
    const bool receives = call.facts->receives != ReceiveKind::none || call.facts->probes != ProbeKind::none;
    if (call.facts->sends != SendMode::none && to >= 0)
        m_sends.push_back({communicator, rank, to, value_or(state, "toTag", any_tag), own_call, state.time});
    if (receives && (from >= 0 || from == any_rank))
        m_receives.push_back(
            {communicator, from, rank, value_or(state, "fromTag", any_tag), own_call, state.time});
}

/// Receives get, in the order in which they began, the first message that fits (MPI 4.1, 3.5).
void WaitingCalls::match_ends()
{
    std::ranges::stable_sort(m_sends, {}, &End::time);
    std::ranges::stable_sort(m_receives, {}, &End::time);
    using Channel = std::deque<std::size_t>; // positions of sends
    std::map<Mailbox, std::map<SourceAndTag, Channel>> mailboxes;
    for (std::size_t i = 0; i < m_sends.size(); ++i) {
        const End& send = m_sends[i];
        mailboxes[{send.communicator, send.destination}][{send.source, send.tag}].push_back(i);
    }
    for (End& receive : m_receives) {
        const auto mailbox = mailboxes.find({receive.communicator, receive.destination});
        if (mailbox == mailboxes.end())
            continue;
        auto& channels = mailbox->second;
        auto first = channels.end();
        if (receive.source != any_rank && receive.tag != any_tag)
            first = channels.find({receive.source, receive.tag});
        else
            for (auto channel = channels.begin(); channel != channels.end(); ++channel)
                if (fits(receive.source, channel->first.first) && fits(receive.tag, channel->first.second) &&
                    (first == channels.end() || channel->second.front() < first->second.front()))
                    first = channel;
        if (first == channels.end())
            continue;
        m_sends[first->second.front()].is_met = receive.is_met = true;
        first->second.pop_front();
        if (first->second.empty())
            channels.erase(first);
    }
}

void WaitingCalls::index_ends()
{
    for (const End& send : m_sends)
        m_send_of.try_emplace({send.source, send.rid}, &send);
    for (const End& receive : m_receives)
        m_receive_of.try_emplace({receive.destination, receive.rid}, &receive);
}

std::map<std::int64_t, WaitingCall> WaitingCalls::find(std::int64_t process_count)
{
    for (const auto& [rank, call] : m_unfinished) {
        add_blocking(rank, call);
        const Communicator* communicator = m_objects.communicator(rank, call.state);
        if (communicator && call.facts->members == CollectiveMembers::communicator)
            ++m_calls[{communicator, rank}];
    }
    match_ends();
    index_ends();
    std::map<std::int64_t, WaitingCall> waiting;
    for (const auto& [rank, call] : m_unfinished) {
        if (!m_with_threads.contains(rank))
            waiting[rank] = {call.thread, call.state.line, m_objects.call_site(rank, call.state),
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
    if (const auto send = m_send_of.find({rank, own_call}); send != m_send_of.end())
        wait.conditions.push_back(condition_of(*send->second, true));
    if (const auto receive = m_receive_of.find({rank, own_call}); receive != m_receive_of.end())
        wait.conditions.push_back(condition_of(*receive->second, false));
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
    if (const auto send = m_send_of.find({rank, rid}); send != m_send_of.end())
        return condition_of(*send->second, true);
    if (const auto receive = m_receive_of.find({rank, rid}); receive != m_receive_of.end())
        return condition_of(*receive->second, false);
    return {};
}

Condition WaitingCalls::condition_of(const End& end, bool is_send) const
{
    if (end.is_met)
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
