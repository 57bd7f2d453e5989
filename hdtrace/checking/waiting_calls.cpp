#include "hdtrace/checking/waiting_calls.h"

#include <algorithm>
#include <limits>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/format/nanoseconds.h"

namespace hdtrace {
namespace {

constexpr std::ptrdiff_t most_needed =
    64; // that are named; without the others at most a deadlock is not seen
constexpr std::int64_t fewest_polls = 100; // fewer may come before something else than MPI takes long
constexpr std::int64_t shortest_polling = 1'000'000'000; // programs give up sooner, perhaps
constexpr std::int64_t shortest_wait = 1'000'000'000;    // what is on its way comes sooner
// Outside of MPI for a poll: not more if nothing else is done, and more only if something is.
constexpr std::int64_t longest_idle = 10'000, shortest_work = 100'000;

/// Whether it found out that nothing has happened.
bool is_in_vain(const State& poll)
{
    return std::ranges::any_of(poll.children, [](const Element& child) { return child.name == "Pending"; }) ||
           poll.integer("flag") == 0;
}

/// What the tracer adds to calls that come again and again.
State without_history(State poll)
{
    static constexpr AttributeName histories[] = {"polls", "pollTime", "threadCpu", "mixed", "cpu"};
    for (const AttributeName& name : histories)
        if (const auto place = poll.attributes.find(name))
            poll.attributes.erase(*place);
    return poll;
}

std::optional<std::int64_t> seconds_in(const State& state, const AttributeName& name)
{
    const auto text = state.find(name);
    return text ? parse_time(*text) : std::nullopt;
}

/// The requests that it waits for.
std::vector<std::int64_t> awaited_requests(const State& call, const CallFacts& facts)
{
    std::vector<std::int64_t> rids;
    for (const Element& child : call.children)
        if (const auto rid = child.integer("rid"); rid && child.name == "Pending")
            rids.push_back(*rid);
    if (const auto rid = call.integer("rid"); rid && facts.progress == CallProgress::asks)
        rids.push_back(*rid);
    return rids;
}

/// Of a poll that has not ended: it says as much as those before, but for their answers.
bool asks_again(const State& unfinished, const State& question)
{
    return unfinished.name == question.name && unfinished.children == question.children &&
           std::ranges::all_of(unfinished.attributes, [&](const Attribute& attribute) {
               return attribute.name == "unfinished" || question.find(attribute.name) == attribute.value;
           });
}

bool is_same_question(const State& one, const State& other)
{
    return one.name == other.name && one.attributes == other.attributes && one.children == other.children;
}

std::int64_t root_of(const Element& call)
{
    return call.integer("rootRank").value_or(proc_null);
}

Wait only(WaitCondition condition)
{
    return {WaitCondition::Of::all, {std::move(condition)}};
}

} // namespace

void WaitingCalls::leave(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    const ThreadId thread{rank, call.trace.thread};
    if (call.is_inside_call || call.facts.call_class == CallClass::other)
        return;
    if (m_threads.try_emplace(rank, call.trace.thread).first->second != call.trace.thread)
        m_with_threads.insert(rank);
    if (call.facts.life == LifeCycle::ends)
        (call.state.is_unfinished() ? m_finalizing : m_ended).insert(rank);
    if (call.state.is_unfinished())
        lasted_until(call.state.end);
    m_epochs.add(call);
    m_groups.add(call);
    m_leaders.add(call);
    m_unfinished.erase(thread); // by an exception, for example
    if (call.facts.polls) {
        // That one asks just now does not mean that one waits.
        if (!call.state.is_unfinished() && is_in_vain(call.state))
            return note_poll(call);
        if (call.state.is_unfinished())
            return note_last_poll(call);
    }
    if (call.facts.progress != CallProgress::query)
        m_polling.erase(rank);
    if (call.state.is_unfinished())
        m_unfinished[thread] = {call.trace, call.state, &call.facts, m_collective_objects.of(call)};
}

void WaitingCalls::add_rest(const Message& message)
{
    if (!m_lacks_first)
        m_open.add_rest(message);
    else if ((message.send ? *message.send : *message.receive).rid >= 0)
        m_rest.push_back(message);
}

void WaitingCalls::note_poll(const Call& call)
{
    const State& poll = call.state;
    const auto [found, is_first] = m_polling.try_emplace(call.trace.rank);
    Polling& polling = found->second;
    PollingTime& now = polling.last;
    if (is_first)
        polling.first.time = poll.time;
    // The first one tells of those before something else.
    const std::int64_t count = 1 + (is_first ? 0 : poll.integer("polls").value_or(0));
    now.count += count;
    now.inside_cpu += count * seconds_in(poll, "cpu").value_or(0);
    now.inside += poll.end - poll.time;
    now.time = poll.end;
    if (const auto cpu = seconds_in(poll, "threadCpu")) {
        now.cpu = *cpu;
        polling.last_with_cpu = now;
        if (!polling.first_with_cpu)
            polling.first_with_cpu = now;
    }
    polling.has_more_questions = polling.has_more_questions || poll.has("mixed");
    State question = without_history(poll);
    const auto is_same = [&](const Unfinished& known) { return is_same_question(known.state, question); };
    if (std::ranges::none_of(polling.questions, is_same))
        polling.questions.push_back({call.trace, std::move(question), &call.facts});
}

/// However many are left out before it, the process still polled then.
void WaitingCalls::note_last_poll(const Call& call)
{
    const auto polling = m_polling.find(call.trace.rank);
    if (polling != m_polling.end() && asks_again(call.state, polling->second.questions.front().state))
        polling->second.asked_last = call.state.time;
}

/// Whoever only waits may sleep between polls, but does not work there. Where the processor time is not known
/// these two look alike, and what takes little time may be all that there is to compute.
WaitingCalls::Certainty WaitingCalls::only_waits(const Polling& polling)
{
    const bool knows_cpu =
        polling.first_with_cpu && polling.first_with_cpu->count < polling.last_with_cpu->count;
    if (!knows_cpu)
        return Certainty::perhaps;
    const PollingTime &first = *polling.first_with_cpu, &last = *polling.last_with_cpu;
    const std::int64_t time = last.time - first.time;
    const std::int64_t outside = last.cpu - first.cpu - (last.inside_cpu - first.inside_cpu);
    const std::int64_t for_one = outside / (last.count - first.count);
    const bool is_idle = for_one <= longest_idle || (for_one < shortest_work && outside < time / 5);
    return is_idle ? Certainty::certain : Certainty::none;
}

/// Of those who ask several questions in turn it is not known which answer they would go on with.
void WaitingCalls::take_polls_as_waiting()
{
    for (const auto& [rank, polling] : m_polling)
        lasted_until(polling.last.time);
    for (const auto& [rank, polling] : m_polling) {
        const std::int64_t time = polling.last.time - polling.first.time;
        // Some may be left out behind the last one.
        const auto is_until_end = [&](std::int64_t last) { return m_end - last <= time / 3; };
        if (polling.last.count < fewest_polls || time < shortest_polling || polling.has_more_questions ||
            polling.questions.size() != 1 || !is_until_end(std::max(polling.last.time, polling.asked_last)))
            continue;
        const Certainty certainty = only_waits(polling);
        if (certainty == Certainty::none)
            continue;
        const Unfinished& question = polling.questions.front();
        m_unfinished[{rank, question.trace.thread}] = question;
        if (certainty == Certainty::perhaps || !is_until_end(polling.last.time))
            m_may_do_more.insert(rank);
    }
}

/// Where first calls are missing it is known of no message and of no operation that is done to which other it
/// belongs. But of two calls that wait for each other's processes none is about to end after so long.
void WaitingCalls::forget_what_is_uncertain(const PendingById& pending)
{
    m_calls.clear(); // only those that have not ended are counted then
    m_collectives.clear();
    std::erase_if(m_unfinished, [&](const auto& one) {
        const State& call = one.second.state;
        return call.is_unfinished() && m_end - call.time < shortest_wait;
    });
    for (const Message& message : m_rest) {
        const std::int64_t rank = message.send ? message.source : message.destination;
        if (pending.contains({rank, (message.send ? *message.send : *message.receive).rid}))
            m_open.add_rest(message);
    }
}

void WaitingCalls::joined(const Call& call)
{
    if (call.is_inside_call)
        return;
    const std::optional<CollectiveObject> object = m_collective_objects.of(call);
    if (!object)
        return;
    const std::int64_t number = m_calls[{*object, call.trace.rank}]++;
    const auto rid = call.state.integer("rid");
    if (rid && call.facts.progress != CallProgress::prepares)
        m_collectives.insert_or_assign({call.trace.rank, *rid},
                                       Joined{{*object, number}, call.facts.collective, root_of(call.state)});
}

void WaitingCalls::started(const Call& /*call*/, const Operation& operation)
{
    if (const auto starts = m_collective_objects.of_start(operation))
        m_collectives.insert_or_assign({operation.rank, operation.rid},
                                       Joined{{*starts, m_calls[{*starts, operation.rank}]++},
                                              operation.facts->collective,
                                              root_of(*operation.call)});
}

void WaitingCalls::completed(const Call& call, const Completion& completion)
{
    m_collectives.erase({call.trace.rank, completion.rid});
}

std::map<std::int64_t, WaitingCall> WaitingCalls::find(const std::vector<OperationPointer>& pending)
{
    PendingById pending_by_id;
    for (const OperationPointer& operation : pending)
        if (waits(operation->rank) || m_polling.contains(operation->rank))
            pending_by_id.try_emplace({operation->rank, operation->rid}, operation.get());
    take_polls_as_waiting();
    if (m_lacks_first)
        forget_what_is_uncertain(pending_by_id);
    for (const auto& [thread, call] : m_unfinished) {
        const std::int64_t rank = thread.first;
        if (m_left_out.contains(rank))
            continue;
        m_open.add_in_progress(call.trace, call.state, *call.facts);
        if (!call.object)
            continue;
        const Place place{*call.object, m_calls[{*call.object, rank}]++};
        if (const auto meeting = m_leaders.meeting_of(rank, call.state)) {
            m_meetings.emplace(place, *meeting);
            m_places.emplace(*meeting, place);
        }
    }
    m_open.match();
    const SharedRanks unfinalized = not_finalized();
    std::map<std::int64_t, WaitingCall> waiting;
    for (const auto& [thread, call] : m_unfinished) {
        const std::int64_t rank = thread.first;
        if (!m_with_threads.contains(rank) && !m_left_out.contains(rank))
            waiting[rank] = {call.trace.thread,
                             call.state.line,
                             m_objects.call_site(rank, call.state),
                             call_words(m_project, rank, call.state),
                             operations_of(rank, call, pending_by_id),
                             wait_of(rank, call, unfinalized),
                             !call.state.is_unfinished(),
                             m_may_do_more.contains(rank)};
    }
    return waiting;
}

/// One of its threads, at least.
bool WaitingCalls::waits(std::int64_t rank) const
{
    constexpr std::int64_t first_thread = std::numeric_limits<std::int64_t>::min();
    const auto first = m_unfinished.lower_bound({rank, first_thread});
    return first != m_unfinished.end() && first->first.first == rank;
}

Wait WaitingCalls::wait_of(std::int64_t rank, const Unfinished& call, const SharedRanks& unfinalized)
{
    const CallFacts& facts = *call.facts;
    if (facts.life == LifeCycle::ends)
        return only({WaitCondition::Of::all, unfinalized});
    if (facts.progress == CallProgress::waits || facts.progress == CallProgress::tests ||
        facts.progress == CallProgress::asks)
        return wait_for_requests(rank, call);
    if (facts.progress != CallProgress::blocking && facts.probes == ProbeKind::none)
        return {};
    if (call.object)
        return only(condition_of(
            rank, {{*call.object, calls_of(*call.object, rank) - 1}, facts.collective, root_of(call.state)}));
    const bool is_counted =
        facts.synchronisation != WindowSynchronisation::none || facts.members == CollectiveMembers::group;
    if (m_lacks_first && is_counted)
        return {};
    if (facts.synchronisation != WindowSynchronisation::none)
        return m_epochs.wait_of(rank, call.state, facts);
    if (facts.members == CollectiveMembers::group)
        return only(
            {WaitCondition::Of::all, m_groups.missing(rank, call.state, m_project.project.process_count)});
    Wait wait;
    if (const OpenEnd* send = m_open.send_of(rank, OpenEnd::in_progress))
        wait.conditions.push_back(condition_of(*send, true));
    if (const OpenEnd* receive = m_open.receive_of(rank, OpenEnd::in_progress))
        wait.conditions.push_back(condition_of(*receive, false));
    return wait;
}

/// Of persistent requests with the calls that have their arguments.
std::vector<StartedOperation> WaitingCalls::operations_of(std::int64_t rank, const Unfinished& call,
                                                          const PendingById& pending) const
{
    std::vector<StartedOperation> operations;
    for (const std::int64_t rid : awaited_requests(call.state, *call.facts)) {
        const auto found = pending.find({rank, rid});
        if (found != pending.end())
            operations.push_back(
                {std::string(found->second->facts->name), m_objects.call_site(rank, *found->second->call)});
    }
    return operations;
}

Wait WaitingCalls::wait_for_requests(std::int64_t rank, const Unfinished& call)
{
    Wait wait;
    const WhichRequests which = call.facts->completes;
    const bool any = which == WhichRequests::any || which == WhichRequests::some;
    wait.of = any ? WaitCondition::Of::any : WaitCondition::Of::all;
    for (const std::int64_t rid : awaited_requests(call.state, *call.facts))
        wait.conditions.push_back(condition_of(rank, rid));
    return wait;
}

WaitCondition WaitingCalls::condition_of(std::int64_t rank, std::int64_t rid)
{
    if (const auto collective = m_collectives.find({rank, rid}); collective != m_collectives.end())
        return condition_of(rank, collective->second);
    if (const OpenEnd* send = m_open.send_of(rank, rid))
        return condition_of(*send, true);
    if (const OpenEnd* receive = m_open.receive_of(rank, rid))
        return condition_of(*receive, false);
    return {};
}

WaitCondition WaitingCalls::condition_of(const OpenEnd& end, bool is_send)
{
    if (end.other)
        return {};
    if (is_send)
        return {WaitCondition::Of::all, {end.destination}};
    if (end.source != any_rank)
        return {WaitCondition::Of::all, {end.source}};
    // Whoever has no trace may send.
    if (!end.communicator || !end.communicator->is_traced())
        return {};
    return {WaitCondition::Of::any, senders_to(*end.communicator, end.destination), end.destination};
}

/// From whom a receive from any source may get something, itself included.
const SharedRanks& WaitingCalls::senders_to(const Communicator& communicator, std::int64_t rank)
{
    const Communicator::Member* const own = communicator.member(rank);
    const std::optional<std::int64_t> side = own ? own->group : std::nullopt;
    const auto [senders, is_new] = m_senders.try_emplace({&communicator, side});
    if (is_new)
        senders->second = members_that(communicator, [&](const Communicator::Member& member) {
            return !member.group || !side || side != member.group;
        });
    return senders->second;
}

WaitCondition WaitingCalls::condition_of(std::int64_t rank, const Joined& joined)
{
    const CollectiveObject& object = joined.place.first;
    if (!object.communicator || m_collective_objects.is_ambiguous(object))
        return {};
    return condition_of(rank, joined, missing_of(joined.place));
}

/// Whose data it needs (MPI 4.1, 6.1): without them it can't end, whatever the library does. Once they are
/// there, it may wait for any other member that is missing.
WaitCondition WaitingCalls::condition_of(std::int64_t rank, const Joined& joined,
                                         const Missing& missing) const
{
    const Communicator& communicator = *joined.place.first.communicator;
    const Communicator::Member* const own = communicator.member(rank);
    SharedRanks::Ranks needed;
    const bool needs_all =
        joined.kind == CollectiveKind::barrier || joined.kind == CollectiveKind::all_to_all;
    // Whoever is not in the call now may have left it, unless nobody can before all have called it.
    switch (m_lacks_first && !needs_all ? CollectiveKind::none : joined.kind) {
    case CollectiveKind::one_to_all:
        if (joined.root <= other_world)
            return {};
        if (joined.root != rank && missing.ranks->contains(joined.root))
            needed.insert(joined.root);
        break;
    case CollectiveKind::all_to_one:
        if (joined.root == rank)
            return {WaitCondition::Of::all, missing.ranks, rank};
        break;
    case CollectiveKind::scan: {
        const auto end = std::ranges::lower_bound(missing.in_order, own ? own->local : 0, {},
                                                  &Communicator::Member::local);
        for (auto lower = std::max(missing.in_order.begin(), end - most_needed); lower != end; ++lower)
            needed.insert((*lower)->global);
        break;
    }
    case CollectiveKind::neighbourhood:
    case CollectiveKind::none:
        break;
    default:
        // Of an inter-communicator's own side it needs nothing.
        if (!communicator.is_inter() || joined.kind == CollectiveKind::object)
            return {WaitCondition::Of::all, missing.ranks, rank};
    }
    if (!needed.empty())
        return {WaitCondition::Of::all, std::move(needed)};
    if (!communicator.is_traced())
        return {};
    return {WaitCondition::Of::some, missing.ranks, rank};
}

/// And who lacks on the other side.
const WaitingCalls::Missing& WaitingCalls::missing_of(const Place& place)
{
    const auto [found, is_new] = m_missing.try_emplace(place);
    Missing& missing = found->second;
    if (is_new) {
        SharedRanks::Ranks ranks = missing_at(place);
        for (const Communicator::Member& member : place.first.communicator->members)
            if (ranks.contains(member.global))
                missing.in_order.push_back(&member);
        std::ranges::sort(missing.in_order, {}, &Communicator::Member::local);
        add_other_side(place, ranks);
        missing.ranks = std::move(ranks);
    }
    return missing;
}

SharedRanks::Ranks WaitingCalls::missing_at(const Place& place) const
{
    return members_that(*place.first.communicator, [&](const Communicator::Member& member) {
        return calls_of(place.first, member.global) <= place.second;
    });
}

/// Of MPI_Intercomm_create: the other leader, or whom that waits for.
void WaitingCalls::add_other_side(const Place& place, SharedRanks::Ranks& missing) const
{
    const auto meeting = m_meetings.find(place);
    if (meeting == m_meetings.end() || m_lacks_first)
        return;
    if (!m_leaders.has_other(meeting->second))
        missing.insert(meeting->second.other);
    else if (const auto other = m_places.find(meeting->second.mirrored()); other != m_places.end())
        missing.merge(missing_at(other->second));
}

SharedRanks WaitingCalls::not_finalized() const
{
    std::set<std::int64_t> ranks;
    for (std::int64_t rank = 0; rank < m_project.project.process_count; ++rank)
        if (!m_ended.contains(rank) && !m_finalizing.contains(rank))
            ranks.insert(ranks.end(), rank);
    return ranks;
}

std::int64_t WaitingCalls::calls_of(const CollectiveObject& object, std::int64_t rank) const
{
    const auto found = m_calls.find({object, rank});
    return found == m_calls.end() ? 0 : found->second;
}

} // namespace hdtrace
