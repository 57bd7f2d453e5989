#include "hdtrace/checking/buffering_check.h"

#include <algorithm>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/checking/deadlocks.h"

namespace hdtrace {
namespace {

/// A correct program works whether its members wait in it for each other or not (MPI 4.1, 6.14). A fence does
/// not if the program promises something by `assert`.
bool may_await_all(const CallFacts& facts, const State& call)
{
    if (facts.synchronisation == WindowSynchronisation::fence)
        return call.integer("assert") == 0;
    return facts.collective != CollectiveKind::neighbourhood;
}

/// Whether a call waits for each request that it completes.
bool waits_for_all(const Call& call)
{
    return call.nesting == 0 && call.facts.progress == CallProgress::waits &&
           (call.facts.completes == WhichRequests::one || call.facts.completes == WhichRequests::all);
}

constexpr std::size_t most_steps = 1'000'000;
constexpr std::size_t steps_between_advances = 4096;

} // namespace

BufferingCheck::End BufferingCheck::end_of(std::int64_t rank, const MessageEnd& end, bool is_send)
{
    return {rank, end.rid < 0 ? end.line : -1, end.rid, is_send};
}

void BufferingCheck::started(const Call& call, const Operation& operation)
{
    if (m_is_given_up || call.is_inside_call)
        return;
    if (operation.facts->sends != SendMode::none &&
        operation.call->integer("toRank").value_or(proc_null) > proc_null)
        add_end(operation, true);
    if (operation.facts->receives == ReceiveKind::posted &&
        operation.call->integer("fromRank").value_or(proc_null) > proc_null)
        add_end(operation, false);
}

void BufferingCheck::add_end(const Operation& operation, bool is_send)
{
    const End end{operation.rank, operation.rid < 0 ? operation.line : -1, operation.rid, is_send};
    m_step.begins.push_back(end);
    EndState& state = m_ends[end];
    state.has_begun = true;
    if (is_send && operation.facts->sends == SendMode::buffered)
        state.is_done = true;
    else if (operation.rid < 0)
        m_step.waits_for.push_back(end);
    else
        state.is_open = true;
}

/// leave() sees to what calls wait for.
void BufferingCheck::completed(const Call& call, const Completion& completion)
{
    if (m_is_given_up || completion.rid < 0 ||
        (waits_for_all(call) && completion.outcome != Outcome::cancelled))
        return;
    m_joined.erase({call.trace.rank, completion.rid});
    for (const bool is_send : {false, true})
        set_done({call.trace.rank, -1, completion.rid, is_send});
}

void BufferingCheck::joined(const Call& call)
{
    if (m_is_given_up || call.is_inside_call || call.has_failed())
        return;
    const std::optional<CollectiveObject> object = m_collective_objects.of(call);
    if (!object || !object->communicator)
        return;
    const Meeting meeting{*object, m_calls[{*object, call.trace.rank}]++};
    m_step.joins = meeting;
    if (!may_await_all(call.facts, call.state))
        return;
    if (call.facts.progress == CallProgress::blocking)
        m_step.meetings.push_back(meeting);
    else if (const auto rid = call.state.integer("rid"); rid && call.facts.progress == CallProgress::starts)
        m_joined[{call.trace.rank, *rid}] = meeting;
}

void BufferingCheck::complete_requests(const State& call, std::int64_t rank)
{
    for (const Element& child : call.children) {
        if (child.name != "For" || child.find("cancelled"))
            continue;
        if (const auto joined = m_joined.extract({rank, child.integer("rid").value_or(-1)}))
            m_step.meetings.push_back(joined.mapped());
        for (const bool is_send : {false, true}) {
            const auto open = m_ends.find({rank, -1, child.integer("rid").value_or(-1), is_send});
            if (open != m_ends.end() && std::exchange(open->second.is_open, false))
                m_step.waits_for.push_back(open->first);
        }
    }
}

void BufferingCheck::leave(const Call& call)
{
    if (m_is_given_up || call.nesting != 0 || call.facts.call_class == CallClass::other)
        return;
    Process& process = m_processes[call.trace.rank];
    if (process.thread >= 0 && process.thread != call.trace.thread)
        return give_up();
    process.thread = call.trace.thread;
    if (waits_for_all(call))
        complete_requests(call.state, call.trace.rank);
    if (m_step.begins.empty() && m_step.waits_for.empty() && m_step.meetings.empty() && !m_step.joins)
        return;
    m_step.place = place_of(m_findings.objects(), call);
    m_step.call = call.state.name;
    process.steps.push_back(std::move(m_step));
    m_step = {};
    if (!m_spare_steps.empty()) {
        m_step = std::move(m_spare_steps.back());
        m_spare_steps.pop_back();
    }
    if (++m_steps > most_steps)
        return give_up();
    if (++m_steps_until_advance == steps_between_advances) {
        m_steps_until_advance = 0;
        advance(false);
    }
}

/// Of what a probe has taken the receive is not known: it counts as being there.
void BufferingCheck::add(const Message& message)
{
    if (m_is_given_up)
        return;
    const End send = end_of(message.source, *message.send, true);
    const End receive = end_of(message.destination, *message.receive, false);
    EndState& sent = m_ends[send];
    EndState& received = m_ends[receive];
    const bool are_known = sent.has_begun && received.has_begun;
    for (EndState* state : {&sent, &received}) {
        state->is_posted = state->is_posted || !are_known;
        state->is_done = state->is_done || !state->has_begun;
    }
    sent.other = receive;
    received.other = send;
    forget_if_over(m_ends.find(send));
}

void BufferingCheck::post(const End& end)
{
    const auto found = m_ends.find(end);
    if (found == m_ends.end())
        return;
    found->second.is_posted = true;
    forget_if_over(found);
}

void BufferingCheck::set_done(const End& end)
{
    const auto found = m_ends.find(end);
    if (found == m_ends.end())
        return;
    found->second.is_open = false;
    found->second.is_done = true;
    forget_if_over(found);
}

void BufferingCheck::forget_if_over(Ends::iterator end)
{
    const EndState& state = end->second;
    if (!state.other || !state.is_done || !state.is_posted)
        return;
    const auto other = m_ends.find(*state.other);
    if (other == m_ends.end() || !other->second.is_done || !other->second.is_posted)
        return;
    m_ends.erase(other);
    m_ends.erase(end);
}

void BufferingCheck::keep_memory_of(Step& step)
{
    constexpr std::size_t most_spare_steps = 4096;
    if (m_spare_steps.size() == most_spare_steps)
        return;
    step.begins.clear();
    step.waits_for.clear();
    step.meetings.clear();
    step.joins.reset();
    m_spare_steps.push_back(std::move(step));
}

void BufferingCheck::advance(bool is_all_known)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (auto& [rank, process] : m_processes)
            while (!process.steps.empty() && advance(rank, process, is_all_known))
                goes_on = true;
    }
}

void BufferingCheck::reach(std::int64_t rank, Process& process)
{
    if (process.is_in_first)
        return;
    process.is_in_first = true;
    const Step& step = process.steps.front();
    std::ranges::for_each(step.begins, [this](const End& end) { post(end); });
    if (!step.joins)
        return;
    const CollectiveObject& object = step.joins->object;
    Meetings& meetings = m_meetings[object];
    const auto place = static_cast<std::size_t>(meetings.reached[rank]++ - meetings.complete);
    if (place >= meetings.arrived.size())
        meetings.arrived.resize(place + 1);
    ++meetings.arrived[place];
    while (!meetings.arrived.empty() && meetings.arrived.front() >= object.communicator->members.size()) {
        meetings.arrived.pop_front();
        ++meetings.complete;
    }
}

bool BufferingCheck::advance(std::int64_t rank, Process& process, bool is_all_known)
{
    reach(rank, process);
    Step& step = process.steps.front();
    if (!std::ranges::all_of(step.waits_for, [&](const End& end) { return is_posted(end, is_all_known); }) ||
        !std::ranges::all_of(step.meetings, [&](const Meeting& meeting) { return is_complete(meeting); }))
        return false;
    std::ranges::for_each(step.waits_for, [this](const End& end) { set_done(end); });
    keep_memory_of(step);
    process.steps.pop_front();
    process.is_in_first = false;
    --m_steps;
    return true;
}

/// Whether the other end is; one that is never known is none of this check's.
bool BufferingCheck::is_posted(const End& end, bool is_all_known) const
{
    const auto found = m_ends.find(end);
    if (found == m_ends.end() || !found->second.other)
        return is_all_known;
    const auto other = m_ends.find(*found->second.other);
    return other != m_ends.end() && other->second.is_posted;
}

bool BufferingCheck::has_reached(const Meeting& meeting, std::int64_t member) const
{
    const auto meetings = m_meetings.find(meeting.object);
    if (meetings == m_meetings.end())
        return false;
    const auto reached = meetings->second.reached.find(member);
    return reached != meetings->second.reached.end() && reached->second > meeting.number;
}

/// Whether all members have reached it.
bool BufferingCheck::is_complete(const Meeting& meeting) const
{
    return m_collective_objects.is_ambiguous(meeting.object) ||
           m_meetings.at(meeting.object).complete > meeting.number;
}

Wait BufferingCheck::wait_of(const Step& step) const
{
    Wait wait;
    for (const End& end : step.waits_for)
        if (!is_posted(end, true))
            wait.conditions.push_back({Condition::Of::all, {m_ends.at(end).other->rank}});
    for (const Meeting& meeting : step.meetings) {
        Condition members;
        for (const Communicator::Member& member : meeting.object.communicator->members)
            if (!is_complete(meeting) && !has_reached(meeting, member.global))
                members.ranks.insert(member.global);
        if (!members.ranks.empty())
            wait.conditions.push_back(std::move(members));
    }
    return wait;
}

void BufferingCheck::finish()
{
    if (m_is_given_up)
        return;
    advance(true);
    std::map<std::int64_t, Wait> waits;
    for (const auto& [rank, process] : m_processes)
        if (!process.steps.empty())
            waits.emplace(rank, wait_of(process.steps.front()));
    for (const Circle& circle : find_stuck(waits, {}).circles)
        report(circle);
}

void BufferingCheck::report(const Circle& circle)
{
    constexpr std::size_t most_shown = 8;
    std::string text;
    const Step* first = nullptr;
    std::size_t shown = 0;
    for (const std::int64_t rank : circle) {
        const Step& step = m_processes.at(rank).steps.front();
        first = first ? first : &step;
        if (++shown > most_shown)
            continue;
        std::set<std::int64_t> awaited;
        for (const Condition& condition : wait_of(step).conditions)
            awaited.insert(condition.ranks.begin(), condition.ranks.end());
        text += (text.empty() ? "if sends and collective calls waited for the others, rank " : ", rank ") +
                std::to_string(rank) + " would wait in " + step.call + at(step.place.site) + " for " +
                ranks_text(awaited);
    }
    if (shown > most_shown)
        text += ", and " + std::to_string(shown - most_shown) + " more";
    m_findings.report(FindingKind::buffering_required, first->place, text);
}

void BufferingCheck::give_up()
{
    m_is_given_up = true;
    m_processes.clear();
    m_ends.clear();
    m_spare_steps.clear();
    m_joined.clear();
}

} // namespace hdtrace
