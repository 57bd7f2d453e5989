#include "hdtrace/checking/causal_order.h"

#include <algorithm>
#include <utility>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

/// Whether the process tells the others something before the operation is complete, or hears it. @p call has
/// the arguments.
bool tells(const CallFacts& facts, const Element& call, std::int64_t rank)
{
    return facts.collective != CollectiveKind::one_to_all || call.integer("rootRank") == rank;
}

bool hears(const CallFacts& facts, const Element& call, std::int64_t rank)
{
    return facts.collective != CollectiveKind::all_to_one || call.integer("rootRank") == rank;
}

} // namespace

CausalOrder::Key CausalOrder::key_of(const Operation& operation)
{
    return {operation.rank, operation.thread, operation.line, operation.rid};
}

CausalOrder::Key CausalOrder::key_of(std::int64_t rank, const MessageEnd& end)
{
    return {rank, end.thread, end.line, end.rid};
}

Moment CausalOrder::step(std::int64_t rank)
{
    ++m_steps;
    return {rank, ++m_processes[rank].steps};
}

void CausalOrder::tell(Moment moment, std::size_t meeting)
{
    ++m_meetings[meeting].awaited;
    m_processes[moment.rank].actions.push_back({moment.step, false, meeting});
}

void CausalOrder::hear(Moment moment, std::size_t meeting)
{
    ++m_meetings[meeting].hearers;
    m_processes[moment.rank].actions.push_back({moment.step, true, meeting});
}

void CausalOrder::started(const Call&, const Operation& operation)
{
    if (is_full())
        return;
    const int messages = (operation.facts->sends != SendMode::none ? 1 : 0) +
                         (operation.facts->receives != ReceiveKind::none ? 1 : 0);
    if (messages > 0)
        m_operations[key_of(operation)] = {
            step(operation.rank), {}, {}, messages, operation.facts->sends == SendMode::synchronous};
    const std::optional<CollectiveObject> starts = m_collective_objects.of_start(operation);
    if (!starts)
        return;
    const std::size_t meeting = meeting_of(operation.rank, *starts);
    if (tells(*operation.facts, *operation.call, operation.rank))
        tell(step(operation.rank), meeting);
    if (hears(*operation.facts, *operation.call, operation.rank))
        m_collectives[key_of(operation)] = meeting;
}

void CausalOrder::completed(const Call&, const Completion& completion)
{
    if (!completion.operation)
        return;
    const Key key = key_of(*completion.operation);
    if (const auto operation = m_operations.find(key); operation != m_operations.end()) {
        Span& span = operation->second;
        span.end = step(completion.operation->rank);
        add(span.received, span.end);
        if (span.messages == 0)
            m_operations.erase(operation);
    }
    if (const auto collective = m_collectives.find(key); collective != m_collectives.end()) {
        if (completion.outcome == Outcome::completed)
            hear(step(completion.operation->rank), collective->second);
        m_collectives.erase(collective);
    }
}

/// The meeting of all members' calls with the same number.
std::size_t CausalOrder::meeting_of(std::int64_t rank, const CollectiveObject& object)
{
    const std::int64_t number = m_numbers[{rank, object}]++;
    const auto [place, is_new] = m_numbered.try_emplace({object, number}, m_meetings.size());
    if (is_new)
        m_meetings.emplace_back();
    return place->second;
}

void CausalOrder::joined(const Call& call)
{
    if (call.is_inside_call || is_full())
        return;
    const std::optional<CollectiveObject> object = m_collective_objects.of(call);
    if (!object)
        return;
    const std::size_t meeting = meeting_of(call.trace.rank, *object);
    const std::int64_t rank = call.trace.rank;
    if (tells(call.facts, call.state, rank))
        tell(step(rank), meeting);
    if (!hears(call.facts, call.state, rank) || call.state.is_unfinished())
        return;
    const auto rid = call.state.integer("rid");
    if (call.facts.progress == CallProgress::blocking)
        m_joined = meeting;
    else if (rid && call.facts.progress == CallProgress::starts)
        m_collectives[{rank, call.trace.thread, call.state.line, *rid}] = meeting;
}

void CausalOrder::leave(const Call& call)
{
    if (call.is_inside_call)
        return;
    if (call.facts.probes != ProbeKind::none && !is_full())
        follow_probe(call);
    if (!m_joined)
        return;
    hear(step(call.trace.rank), *m_joined);
    m_joined.reset();
}

void CausalOrder::follow_probe(const Call& call)
{
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    const auto source = state.integer("fromRank"), tag = state.integer("fromTag");
    const Communicator* const communicator = m_objects.communicator(rank, state);
    if (state.is_unfinished() || call.has_failed() || state.integer("flag") == 0 || !communicator ||
        source.value_or(proc_null) < 0 || !tag)
        return;
    if (call.facts.probes == ProbeKind::takes)
        m_operations[{rank, call.trace.thread, state.line, -1}].end = step(rank);
    else
        m_probes[{communicator, rank, *source, *tag}].push_back({step(rank)});
}

Moment CausalOrder::began(std::int64_t rank, const MessageEnd& end) const
{
    const auto found = m_operations.find(key_of(rank, end));
    return found == m_operations.end() ? Moment() : found->second.begin;
}

Moment CausalOrder::ended(std::int64_t rank, const MessageEnd& end) const
{
    const auto found = m_operations.find(key_of(rank, end));
    return found == m_operations.end() ? Moment() : found->second.end;
}

/// When the process was given the message: by a probe that keeps it from others, or by its receive.
Moment CausalOrder::take(const Message& message)
{
    const MessageEnd& receive = *message.receive;
    const Key probe{message.destination, receive.probe_thread, receive.probe_line, -1};
    if (const auto found = m_operations.extract(probe))
        return found.mapped().end;
    return began(message.destination, receive);
}

/// Those between the message and the one that was taken before it, as far as is known yet.
void CausalOrder::add_probes(const Message& message)
{
    const Moment sent = began(message.source, *message.send), taken = take(message);
    if (message.receive->probe_line > 0)
        add(sent, taken);
    const auto channel =
        m_probes.find({message.communicator, message.destination, message.source, message.tag});
    if (channel == m_probes.end())
        return;
    std::vector<Probe>& probes = channel->second;
    const auto is_sooner = [&](const Probe& probe) { return probe.taken.step == 0 || taken < probe.taken; };
    auto probe = std::ranges::upper_bound(probes, taken, {}, &Probe::end);
    while (probe != probes.begin() && is_sooner(*--probe)) {
        probe->taken = taken;
        probe->sent = sent;
    }
}

void CausalOrder::add(const Message& message)
{
    add_probes(message);
    add(began(message.source, *message.send), ended(message.destination, *message.receive));
    add_receive(message);
    forget_message(message.source, *message.send);
    forget_message(message.destination, *message.receive);
}

/// A synchronous send is complete once its receive has begun (MPI 4.1, 3.4), which may be told before it is.
void CausalOrder::add_receive(const Message& message)
{
    const auto send = m_operations.find(key_of(message.source, *message.send));
    if (send == m_operations.end() || !send->second.is_synchronous)
        return;
    send->second.received = began(message.destination, *message.receive);
    add(send->second.received, send->second.end);
}

void CausalOrder::forget_message(std::int64_t rank, const MessageEnd& end)
{
    const auto operation = m_operations.find(key_of(rank, end));
    if (operation == m_operations.end() || --operation->second.messages > 0)
        return;
    const Span& span = operation->second;
    const bool waits_for_end = span.received.step > 0 && span.end.step == 0;
    if (!waits_for_end)
        m_operations.erase(operation);
}

void CausalOrder::add(Moment earlier, Moment later)
{
    if (earlier.step == 0 || later.step == 0)
        return;
    m_meetings.emplace_back();
    tell(earlier, m_meetings.size() - 1);
    hear(later, m_meetings.size() - 1);
}

/// Goes on until the process would have to hear what was not told; true if it did anything.
bool CausalOrder::advance(std::int64_t rank, bool is_forced)
{
    Process& process = m_processes[rank];
    const std::size_t before = process.done;
    for (; process.done < process.actions.size(); ++process.done, is_forced = false) {
        const Action& action = process.actions[process.done];
        Meeting& meeting = m_meetings[action.meeting];
        if (action.hears && meeting.awaited > 0 && !is_forced)
            break;
        keep_clock(rank, action.step);
        process.clock[static_cast<std::size_t>(rank)] = action.step;
        if (!action.hears)
            --meeting.awaited;
        if (meeting.hearers == 0)
            continue; // nobody will know
        std::vector<std::uint32_t>& from = action.hears ? meeting.told : process.clock;
        std::vector<std::uint32_t>& to = action.hears ? process.clock : meeting.told;
        to.resize(m_width);
        from.resize(m_width);
        std::ranges::transform(from, to, to.begin(),
                               [](auto one, auto other) { return std::max(one, other); });
        if (action.hears && --meeting.hearers == 0)
            meeting.told = {};
    }
    return process.done > before;
}

/// What the process knew at the moments that are asked for, before a step.
void CausalOrder::keep_clock(std::int64_t rank, std::uint32_t until)
{
    Process& process = m_processes[rank];
    auto& known = process.clock[static_cast<std::size_t>(rank)];
    for (auto kept = m_kept.upper_bound({rank, known});
         kept != m_kept.end() && kept->first <= Moment{rank, until}; ++kept) {
        kept->second = process.clock;
        kept->second[static_cast<std::size_t>(rank)] = kept->first.step;
    }
}

void CausalOrder::finish()
{
    for (const auto& [channel, probes] : m_probes)
        for (const Probe& probe : probes)
            add(probe.sent, probe.end);
    for (const auto& [rank, process] : m_processes)
        m_width = std::max(m_width, static_cast<std::size_t>(rank) + 1);
    for (auto& [rank, process] : m_processes) {
        process.clock.resize(m_width);
        // Who tells and hears at once tells first: it waits for nobody then.
        std::ranges::stable_sort(process.actions, {}, &Action::step);
    }
    for (bool is_forced = false, has_ended = false; !has_ended;) {
        bool has_advanced = false;
        has_ended = true;
        for (auto& [rank, process] : m_processes) {
            if (advance(rank, is_forced && !has_advanced))
                has_advanced = true;
            has_ended = has_ended && process.done == process.actions.size();
        }
        is_forced = !has_advanced; // clocks of threads contradict each other
    }
    for (auto& [rank, process] : m_processes)
        keep_clock(rank, process.steps);
}

bool CausalOrder::is_before(Moment first, Moment second) const
{
    if (first.rank == second.rank)
        return first.step < second.step;
    const auto known = m_kept.find(second);
    return known != m_kept.end() && static_cast<std::size_t>(first.rank) < known->second.size() &&
           known->second[static_cast<std::size_t>(first.rank)] >= first.step;
}

} // namespace hdtrace
