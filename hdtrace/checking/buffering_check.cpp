#include "hdtrace/checking/buffering_check.h"

#include <algorithm>
#include <optional>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/calls/waits.h"
#include "hdtrace/checking/deadlocks.h"

namespace hdtrace {
namespace {

/// A correct program works whether its members wait in it for each other or not (MPI 4.1, 6.14). A fence does
/// not if the program promises something by `assert`; Comm_free is anticipated to be local (7.4.3).
bool may_await_all(const CallFacts& facts, const Element& call)
{
    if (facts.synchronisation == WindowSynchronisation::fence)
        return call.integer("assert") == 0;
    if (facts.frees == ObjectKind::communicator)
        return call.name == "Comm_disconnect";
    return facts.collective != CollectiveKind::neighbourhood;
}

/// Whether the program waits for requests in it, or finds out which are complete.
bool completes_requests(const Call& call)
{
    return call.nesting == 0 &&
           (call.facts.progress == CallProgress::waits || call.facts.progress == CallProgress::tests);
}

constexpr std::size_t most_steps = 1'000'000;
constexpr std::size_t fewest_steps_between_advances = 256;

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
    const std::optional<CollectiveObject> starts = m_collective_objects.of_start(operation);
    if (!starts || !starts->communicator)
        return;
    const Meeting meeting = join(operation.rank, *starts);
    if (may_await_all(*operation.facts, *operation.call))
        m_joined[{operation.rank, operation.rid}] = meeting;
}

void BufferingCheck::Step::clear()
{
    begins.clear();
    waits_for.clear();
    joins.clear();
    meetings.clear();
    finds_out = false;
}

void BufferingCheck::Step::swap(Step& other)
{
    std::swap(place, other.place);
    call.swap(other.call);
    begins.swap(other.begins);
    waits_for.swap(other.waits_for);
    joins.swap(other.joins);
    meetings.swap(other.meetings);
    std::swap(finds_out, other.finds_out);
}

void BufferingCheck::Steps::push(Step& step)
{
    if (m_end == m_steps.size() && m_first > m_steps.size() / 2) {
        std::rotate(m_steps.begin(), m_steps.begin() + static_cast<std::ptrdiff_t>(m_first), m_steps.end());
        m_end -= m_first;
        m_first = 0;
    }
    if (m_end == m_steps.size())
        m_steps.emplace_back();
    m_steps[m_end++].swap(step);
}

void BufferingCheck::Steps::pop()
{
    m_steps[m_first++].clear();
    if (empty())
        m_first = m_end = 0;
}

BufferingCheck::EndState& BufferingCheck::state_of(const End& end)
{
    EndState& state = m_ends[end];
    state.end = end;
    return state;
}

void BufferingCheck::add_to(std::vector<EndState*>& ends, EndState& end)
{
    ends.push_back(&end);
    ++end.steps;
}

void BufferingCheck::add_end(const Operation& operation, bool is_send)
{
    EndState& state =
        state_of({operation.rank, operation.rid < 0 ? operation.line : -1, operation.rid, is_send});
    add_to(m_step.begins, state);
    state.facts = operation.facts;
    state.site = operation.call->integer("site").value_or(-1);
    state.has_begun = true;
    if (is_send && operation.facts->sends == SendMode::buffered)
        state.is_done = true;
    else if (operation.rid < 0)
        add_to(m_step.waits_for, state);
    else
        state.is_open = true;
}

/// leave() sees to what calls wait for.
void BufferingCheck::completed(const Call& call, const Completion& completion)
{
    if (m_is_given_up || completion.rid < 0 ||
        (completes_requests(call) && completion.outcome != Outcome::cancelled &&
         !completion.cancel_was_asked))
        return;
    m_joined.erase({call.trace.rank, completion.rid});
    for (const bool is_send : {false, true})
        if (const auto found = m_ends.find({call.trace.rank, -1, completion.rid, is_send});
            found != m_ends.end()) {
            found->second.is_open = false;
            set_done(found->second);
        }
}

BufferingCheck::Meeting BufferingCheck::join(std::int64_t rank, const CollectiveObject& object)
{
    Meetings& meetings = m_meetings[object];
    meetings.object = object;
    const Meeting meeting{&meetings, meetings.called[rank]++};
    m_step.joins.push_back(meeting);
    return meeting;
}

void BufferingCheck::joined(const Call& call)
{
    if (m_is_given_up || call.is_inside_call || call.has_failed())
        return;
    const std::optional<CollectiveObject> object = m_collective_objects.of(call);
    if (!object || !object->communicator)
        return;
    const Meeting meeting = join(call.trace.rank, *object);
    if (!may_await_all(call.facts, call.state))
        return;
    if (call.facts.progress == CallProgress::blocking)
        m_step.meetings.push_back(meeting);
    else if (const auto rid = call.state.integer("rid"); rid && call.facts.progress == CallProgress::starts)
        m_joined[{call.trace.rank, *rid}] = meeting;
}

void BufferingCheck::complete_requests(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    for (const Element& child : call.state.children) {
        if (child.name != "For" || child.find("cancelled"))
            continue;
        const std::int64_t rid = child.integer("rid").value_or(-1);
        if (!m_joined.empty())
            if (const auto joined = m_joined.extract({rank, rid}))
                m_step.meetings.push_back(joined.mapped());
        for (const bool is_send : {false, true}) {
            const auto open = m_ends.find({rank, -1, rid, is_send});
            if (open != m_ends.end() && std::exchange(open->second.is_open, false))
                add_to(m_step.waits_for, open->second);
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
    if (completes_requests(call))
        complete_requests(call);
    m_step.finds_out = completes_requests(call) && !waits_for_all(call.facts);
    if (m_step.is_empty())
        return;
    m_step.place = place_of(m_findings.objects(), call);
    m_step.call = call.state.name;
    process.steps.push(m_step);
    if (++m_steps > most_steps) {
        m_findings.set_incomplete(FindingKind::buffering_required);
        return give_up();
    }
    if (++m_steps_until_advance >= std::max(fewest_steps_between_advances, m_processes.size())) {
        m_steps_until_advance = 0;
        advance(false);
    }
}

/// Of what a probe has taken the receive is not known: it counts as being there.
void BufferingCheck::add(const Message& message)
{
    if (m_is_given_up)
        return;
    EndState& sent = state_of(end_of(message.source, *message.send, true));
    EndState& received = state_of(end_of(message.destination, *message.receive, false));
    const bool are_known = sent.has_begun && received.has_begun;
    for (EndState* state : {&sent, &received}) {
        state->is_posted = state->is_posted || !are_known;
        state->is_done = state->is_done || !state->has_begun;
        if (state->other) // traces that are damaged say so twice
            state->other->other = nullptr;
    }
    sent.other = &received;
    received.other = &sent;
    forget_if_over(sent);
}

void BufferingCheck::post(EndState& end)
{
    end.is_posted = true;
    --end.steps;
    forget_if_over(end);
}

void BufferingCheck::set_done(EndState& end)
{
    end.is_done = true;
    forget_if_over(end);
}

void BufferingCheck::forget_if_over(EndState& end)
{
    const auto is_over = [](const EndState& state) {
        return state.is_done && state.is_posted && state.steps == 0;
    };
    if (!end.other || !is_over(end) || !is_over(*end.other))
        return;
    m_ends.erase(End(end.other->end));
    m_ends.erase(End(end.end));
}

void BufferingCheck::advance(bool is_all_known)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        m_processes.for_each([&](std::int64_t rank, Process& process) {
            while (!process.steps.empty() && advance(rank, process, is_all_known))
                goes_on = true;
        });
    }
}

void BufferingCheck::reach(std::int64_t rank, Process& process)
{
    if (process.is_in_first)
        return;
    process.is_in_first = true;
    Step& step = process.steps.front();
    for (EndState* const end : step.begins)
        post(*end);
    step.begins.clear();
    for (const Meeting& meeting : step.joins)
        arrive(rank, *meeting.meetings);
}

void BufferingCheck::arrive(std::int64_t rank, Meetings& meetings)
{
    const auto place = static_cast<std::size_t>(meetings.reached[rank]++ - meetings.complete);
    if (place >= meetings.arrived.size())
        meetings.arrived.resize(place + 1);
    ++meetings.arrived[place];
    while (!meetings.arrived.empty() &&
           meetings.arrived.front() >= meetings.object.communicator->members.size()) {
        meetings.arrived.pop_front();
        ++meetings.complete;
    }
}

bool BufferingCheck::advance(std::int64_t rank, Process& process, bool is_all_known)
{
    reach(rank, process);
    const Step& step = process.steps.front();
    if (!std::ranges::all_of(step.waits_for,
                             [&](const EndState* end) { return is_posted(*end, is_all_known); }) ||
        !std::ranges::all_of(step.meetings, [&](const Meeting& meeting) { return is_complete(meeting); }))
        return false;
    for (EndState* const end : step.waits_for) {
        --end->steps;
        set_done(*end);
    }
    process.steps.pop();
    process.is_in_first = false;
    --m_steps;
    return true;
}

/// Whether the other end is; one that is never known is none of this check's.
bool BufferingCheck::is_posted(const EndState& end, bool is_all_known)
{
    return end.other ? end.other->is_posted : is_all_known;
}

bool BufferingCheck::has_reached(const Meeting& meeting, std::int64_t member)
{
    const auto reached = meeting.meetings->reached.find(member);
    return reached != meeting.meetings->reached.end() && reached->second > meeting.number;
}

/// Whether all members have reached it.
bool BufferingCheck::is_complete(const Meeting& meeting) const
{
    return m_collective_objects.is_ambiguous(meeting.meetings->object) ||
           meeting.meetings->complete > meeting.number;
}

/// Members of whom nothing tells that they reach it.
const SharedRanks& BufferingCheck::missing_in(const Meeting& meeting)
{
    const auto [missing, is_new] = m_missing.try_emplace({meeting.meetings, meeting.number});
    if (is_new)
        missing->second =
            members_that(*meeting.meetings->object.communicator, [&](const Communicator::Member& member) {
                return !has_reached(meeting, member.global);
            });
    return missing->second;
}

Wait BufferingCheck::wait_of(const Step& step)
{
    Wait wait;
    for (const EndState* const end : step.waits_for)
        if (!is_posted(*end, true))
            wait.conditions.push_back({WaitCondition::Of::all, {end->other->end.rank}});
    for (const Meeting& meeting : step.meetings)
        if (!is_complete(meeting))
            wait.conditions.push_back(
                {WaitCondition::Of::all, missing_in(meeting)}); // of nobody: it is fulfilled
    return wait;
}

void BufferingCheck::finish()
{
    if (m_is_given_up)
        return;
    advance(true);
    std::map<std::int64_t, Wait> waits;
    m_processes.for_each([&](std::int64_t rank, const Process& process) {
        if (!process.steps.empty() && !process.steps.front().finds_out)
            waits.emplace(rank, wait_of(process.steps.front()));
    });
    for (const Circle& circle : find_stuck(waits, {}).circles)
        report(circle);
}

/// Those that other calls have started, and that the step waits for.
std::vector<StartedOperation> BufferingCheck::started_operations(const Step& step) const
{
    std::vector<StartedOperation> operations;
    for (const EndState* const end : step.waits_for)
        if (end->end.rid >= 0 && end->facts && !is_posted(*end, true))
            operations.push_back(
                {std::string(end->facts->name), m_findings.objects().call_site(end->end.rank, end->site)});
    return operations;
}

/// Where members do not meet: they may be in calls that look alike, on other communicators.
std::string BufferingCheck::meeting_text(const Step& step) const
{
    const auto open =
        std::ranges::find_if(step.meetings, [&](const Meeting& meeting) { return !is_complete(meeting); });
    return open == step.meetings.end() ? std::string()
                                       : " on " + text_of(m_findings.project(), open->meetings->object);
}

void BufferingCheck::report(const Circle& circle)
{
    constexpr std::size_t most_shown = 8;
    std::string text;
    const Step* first = nullptr;
    std::size_t shown = 0;
    for (const std::int64_t rank : circle) {
        const Step& step = m_processes.find(rank)->steps.front();
        first = first ? first : &step;
        if (++shown > most_shown)
            continue;
        std::set<std::int64_t> awaited;
        for (const WaitCondition& condition : wait_of(step).conditions)
            awaited.insert(condition.ranks->begin(), condition.ranks->end());
        text += (text.empty() ? "if sends and collective calls waited for the others, rank " : ", rank ") +
                std::to_string(rank) + " would wait in " + step.call + meeting_text(step) +
                at(step.place.site) + text_of(started_operations(step)) + " for " + ranks_text(awaited);
    }
    if (shown > most_shown)
        text += ", and " + std::to_string(shown - most_shown) + " more";
    const std::vector<StartedOperation> operations = started_operations(*first);
    m_findings.report(FindingKind::buffering_required, first->place, text,
                      operations.empty() ? nullptr : operations.front().site);
}

void BufferingCheck::give_up()
{
    m_is_given_up = true;
    m_step.clear();
    m_processes.clear();
    m_ends.clear();
    m_joined.clear();
    m_meetings.clear();
}

} // namespace hdtrace
