#include "merger/export/tit/process_replay.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/matching/saturated.h"
#include "merger/export/format.h"
#include "merger/export/tit/collectives.h"

namespace hdtrace::exporter {

namespace {

enum class Fate { exact, approximated, dropped };

struct Verdict {
    Fate fate;
    std::string_view what; ///< for the user
};

/// In the order of Replayed.
constexpr Verdict verdicts[] = {
    {Fate::exact, ""},
    {Fate::approximated, "calls that the replay does not have: they take the time that they took"},
    {Fate::dropped, "calls that failed"},
    {Fate::dropped, "calls in which the process ended"},
    {Fate::dropped, "messages whose other end the trace does not have"},
    {Fate::dropped, "collective operations that failed or are missing in another process"},
    {Fate::dropped, "receives that were cancelled or never completed"},
    {Fate::dropped, "tests that found nothing complete"},
    {Fate::approximated, "probes: the receives wait instead"},
    {Fate::approximated, "synchronous and ready sends: as usual ones"},
    {Fate::approximated, "buffered sends: as non-blocking ones that the end waits for"},
    {Fate::approximated, "partitioned operations: as one message, sent where they are started"},
    {Fate::approximated, "non-blocking collective operations: as messages between all members"},
    {Fate::approximated, "collective operations of a program whose threads wait at the same time: as "
                         "messages between all members"},
    {Fate::approximated, "collective operations of a part of the processes, in an order of their own, or "
                         "with volumes of their own for each: as messages"},
    {Fate::approximated, "calls that make communicators: as the exchange of numbers on which all agree"},
};

std::int64_t value_or(const Element& element, const AttributeName& name, std::int64_t otherwise)
{
    return element.integer(name).value_or(otherwise);
}

/// What the replay makes of a call that starts nothing.
Replayed without_operation(const Call& call)
{
    if (call.facts.call_class == CallClass::completion || call.facts.life == LifeCycle::begins ||
        call.facts.life == LifeCycle::ends)
        return Replayed::exactly;
    if (call.has_failed())
        return Replayed::failed;
    if (call.facts.probes != ProbeKind::none)
        return Replayed::probed;
    return call.facts.progress == CallProgress::prepares ? Replayed::exactly : Replayed::measured;
}

Replayed in_mode(SendMode mode)
{
    return mode == SendMode::standard   ? Replayed::exactly
           : mode == SendMode::buffered ? Replayed::unwaited
                                        : Replayed::in_standard_mode;
}

OperationCall call_of(const Operation& operation)
{
    return {operation.rank, operation.thread, operation.line, operation.rid};
}

/// Then there is nothing to send, as in MPI_COMM_SELF.
bool is_alone(const Members& members)
{
    return members.ranks.size() == 1;
}

/// Whether the replay has nothing to say about it: what the MPI library does inside a call is part of that
/// call, and with a call in which the process ended the replay is at its end.
bool is_no_call(const Call& call)
{
    return call.is_inside_call || is_computation(call.facts) || call.state.is_unfinished();
}

} // namespace

ProcessReplay::ProcessReplay(const Replay& replay, std::int64_t rank, const std::vector<TraceFile>& traces,
                             TextOutput& output, ProcessSummary& summary)
    : m_replay(replay), m_summary(summary), m_rank(rank), m_traces(traces),
      m_actions(rank, output, summary.balance)
{
    m_actions.add("init");
}

void ProcessReplay::enter(const Call& call)
{
    m_end = m_end.value_or(call.state.time);
    if (is_no_call(call))
        return;
    if (m_open.empty())
        compute(
            saturated_distance(saturated_distance(call.state.time, *m_end), left_out_poll_time(call.state)));
    m_open[call.trace.thread] = {without_operation(call), {}};
}

void ProcessReplay::started(const Call& call, const Operation& operation)
{
    if (is_no_call(call) || call.has_failed())
        return;
    OpenCall& open = m_open[call.trace.thread];
    std::vector<ReplayWait> waits;
    try {
        open.how = start(operation, waits);
    } catch (const ConvertError& error) {
        throw ConvertError(call.trace.path + ":" + std::to_string(call.state.line) + ": " + error.what());
    }
    if (operation.rid < 0)
        open.waits = std::move(waits);
    else if (open.how != Replayed::measured)
        m_pending[operation.rid] = std::move(waits);
}

void ProcessReplay::completed(const Call& call, const Completion& completion)
{
    if (is_no_call(call) || completion.rid < 0)
        return;
    OpenCall& open = m_open[call.trace.thread];
    ++open.completions;
    compare_size(completion);
    open.knows_completions = complete(completion) && open.knows_completions;
}

void ProcessReplay::leave(const Call& call)
{
    if (call.is_inside_call)
        return;
    if (call.state.is_unfinished())
        return count(Replayed::unfinished, call.trace);
    if (is_computation(call.facts))
        return m_summary.account.exact();
    m_end = std::max(*m_end, call.state.end);
    OpenCall open = std::move(m_open[call.trace.thread]);
    m_open.erase(call.trace.thread);
    if (call.facts.probes == ProbeKind::takes && !call.has_failed())
        take_probed(call);
    m_actions.wait(open.waits);
    if (!open.knows_completions)
        open.how = Replayed::measured;
    else if (call.facts.call_class == CallClass::completion && call.has_failed())
        open.how = Replayed::failed;
    else if (call.facts.progress == CallProgress::tests && open.completions == 0)
        open.how = Replayed::tested_in_vain;
    if (open.how == Replayed::measured)
        m_actions.sleep(saturated_distance(call.state.end, call.state.time));
    count(open.how, call.trace);
}

void ProcessReplay::mark(const Call& call)
{
    m_end = m_end.value_or(call.state.time);
    m_summary.account.exact();
}

void ProcessReplay::finish()
{
    m_actions.wait_for_rest();
    m_actions.add("finalize");
}

void ProcessReplay::compute(std::int64_t nanoseconds)
{
    constexpr double most = 9e18; // that std::llround can give
    const double gap = static_cast<double>(std::max<std::int64_t>(0, nanoseconds));
    const double operations = std::min(gap * 1e-9 * m_replay.speed + m_rounded_away, most);
    const std::int64_t whole = std::llround(operations);
    m_rounded_away = operations - static_cast<double>(whole);
    m_actions.compute(whole);
}

void ProcessReplay::count(Replayed how, const TraceFile& trace)
{
    const Verdict& verdict = verdicts[static_cast<std::size_t>(how)];
    if (verdict.fate == Fate::dropped)
        m_summary.account.dropped(verdict.what);
    else if (verdict.fate == Fate::approximated)
        m_summary.account.approximated(verdict.what);
    else if (trace.thread > 0)
        m_summary.account.approximated("calls of further threads: in one sequence with those of the first");
    else
        m_summary.account.exact();
}

Replayed ProcessReplay::start(const Operation& operation, std::vector<ReplayWait>& waits)
{
    const CallFacts& facts = *operation.facts;
    const bool sends = facts.sends != SendMode::none, receives = facts.receives != ReceiveKind::none;
    if (!sends && !receives && moves_data(facts))
        return collective(operation, waits);
    if (!sends && !receives)
        return facts.makes == ObjectKind::communicator ? make_communicator(operation, waits)
                                                       : Replayed::measured;
    const Replayed sending = sends ? send(operation, waits) : Replayed::exactly;
    const Replayed receiving = receives ? receive(operation, waits) : Replayed::exactly;
    return receiving == Replayed::exactly ? sending : receiving;
}

bool ProcessReplay::complete(const Completion& completion)
{
    const auto found = m_pending.extract(completion.rid);
    if (!found)
        return false;
    if (completion.outcome == Outcome::completed)
        m_actions.wait(found.mapped());
    else
        m_actions.leave_alone(found.mapped());
    return true;
}

// --- messages ---

void ProcessReplay::take_probed(const Call& probe)
{
    const auto mid = probe.state.integer("mid"), source = probe.state.integer("fromRank"),
               tag = probe.state.integer("fromTag");
    if (!mid || !source || !tag || *source < 0 ||
        is_unmatched(m_replay.unmatched.receives, {m_rank, probe.trace.thread, probe.state.line}))
        return;
    const Communicator* communicator = m_replay.objects.communicator(m_rank, probe.state);
    m_actions.start_receive(*source, m_summary.tags.of(communicator, *tag), value_or(probe.state, "size", 0),
                            m_probed[*mid]);
}

std::int64_t ProcessReplay::tag_of(const Operation& operation, std::int64_t tag)
{
    const Communicator* communicator = m_replay.objects.communicator(m_rank, *operation.call);
    return operation.facts->partitioned ? m_summary.tags.of_partitioned(communicator, tag)
                                        : m_summary.tags.of(communicator, tag);
}

bool ProcessReplay::is_unmatched(const std::set<OperationCall>& ends, const OperationCall& operation) const
{
    return !ends.empty() && ends.contains(operation);
}

// Blocking ones, unless the call does something else as well or other threads must go on meanwhile.
bool ProcessReplay::may_block(const Operation& operation) const
{
    const CallFacts& facts = *operation.facts;
    const bool does_both = facts.sends != SendMode::none && facts.receives != ReceiveKind::none;
    return operation.rid < 0 && !does_both && !m_replay.threads_overlap;
}

Replayed ProcessReplay::send(const Operation& operation, std::vector<ReplayWait>& waits)
{
    const std::int64_t to = value_or(*operation.call, "toRank", proc_null);
    if (to <= other_world)
        return Replayed::measured;
    if (is_unmatched(m_replay.unmatched.sends, call_of(operation)))
        return Replayed::unmatched;
    const std::int64_t tag = tag_of(operation, value_or(*operation.call, "toTag", 0));
    const std::int64_t size = value_or(*operation.call, operation.facts->sent_size, 0);
    // The receiver may come after all that follows.
    const bool is_buffered = operation.facts->sends == SendMode::buffered;
    std::vector<ReplayWait> unwaited;
    if (to != proc_null && !is_buffered && may_block(operation))
        m_actions.send(to, tag, size);
    else if (to != proc_null)
        m_actions.start_send(to, tag, size, is_buffered ? unwaited : waits);
    m_actions.leave_alone(unwaited);
    return operation.facts->partitioned ? Replayed::in_one_part : in_mode(operation.facts->sends);
}

Replayed ProcessReplay::receive(const Operation& operation, std::vector<ReplayWait>& waits)
{
    Received receive = posted(operation);
    if (const auto got = look_up(operation)) {
        receive = *got;
        if (!receive.is_complete)
            return Replayed::cancelled;
    }
    if (receive.source <= other_world || receive.source == any_rank)
        return Replayed::measured;
    if (is_unmatched(m_replay.unmatched.receives, call_of(operation)))
        return Replayed::unmatched;
    if (const auto probed = m_probed.extract(value_or(*operation.call, "mid", -1))) {
        waits = std::move(probed.mapped());
        return Replayed::exactly;
    }
    const auto& sizes = m_replay.unmatched.received_sizes;
    const auto size = sizes.find(call_of(operation));
    if (size != sizes.end())
        receive.size = size->second;
    const std::int64_t tag = tag_of(operation, receive.tag);
    if (receive.source != proc_null && may_block(operation))
        m_actions.receive(receive.source, tag, receive.size);
    else if (receive.source != proc_null)
        m_actions.start_receive(receive.source, tag, receive.size, waits);
    return operation.facts->partitioned ? Replayed::in_one_part : Replayed::exactly;
}

bool ProcessReplay::is_looked_up(const Operation& receive) const
{
    return receive.rid >= 0 && (m_replay.looks_up_receives || has_to_be_looked_up(posted(receive)));
}

/// What a non-blocking receive got, if it is not what it asks for.
std::optional<Received> ProcessReplay::look_up(const Operation& receive)
{
    if (!is_looked_up(receive))
        return std::nullopt;
    if (!m_received)
        m_received = find_received(m_traces);
    const auto found = m_received->extract(receive.rid);
    return found ? std::optional(found.mapped()) : std::nullopt;
}

void ProcessReplay::compare_size(const Completion& completion)
{
    const Operation* operation = completion.operation;
    if (operation == nullptr || operation->facts->receives == ReceiveKind::none || is_looked_up(*operation))
        return;
    m_has_other_size = m_has_other_size || got_other_size(completion);
}

// --- collective operations ---

Replayed ProcessReplay::collective(const Operation& operation, std::vector<ReplayWait>& waits)
{
    if (m_replay.unmatched.collectives.contains({m_rank, operation.thread, operation.line}))
        return Replayed::failed_elsewhere;
    if (operation.rid >= 0)
        return start_collective(operation, Replayed::without_blocking, waits);
    if (m_replay.threads_overlap)
        return start_collective(operation, Replayed::among_threads, waits);
    const Communicator* communicator = m_replay.objects.communicator(m_rank, *operation.call);
    const std::optional<Members>& members = members_of(communicator);
    if (!members)
        return Replayed::measured;
    const bool is_of_all = members->ranks.size() == static_cast<std::size_t>(m_replay.project.process_count);
    const auto line = is_of_all ? replay_collective(operation, *members) : std::nullopt;
    m_summary.collectives += line ? 1 : 0;
    if (is_alone(*members) || moves_nothing(operation, *members))
        return Replayed::exactly;
    if (line) {
        m_actions.add(line->action, line->arguments);
        return Replayed::exactly;
    }
    const auto rounds = message_rounds(operation, *members);
    if (!rounds)
        return Replayed::measured;
    for (const Exchange& round : *rounds)
        m_actions.wait(exchange(round, m_summary.tags.of_collective(communicator)));
    return Replayed::as_messages;
}

/// What its members have to know of each other: where it is split everyone's color and key, else one number
/// for messages of the new communicator that none of them has used.
Replayed ProcessReplay::make_communicator(const Operation& operation, std::vector<ReplayWait>& waits)
{
    constexpr std::int64_t size_of_number = 4;
    if (operation.facts->members != CollectiveMembers::communicator)
        return Replayed::measured;
    const bool is_split = operation.call->has("key");
    const std::string size = std::to_string(is_split ? 2 * size_of_number : size_of_number);
    Element numbers = *operation.call;
    numbers.attributes.push_back("size", size);
    numbers.attributes.push_back("recvSize", size);
    Operation exchange = operation;
    exchange.call = &numbers;
    exchange.facts = &facts_of(is_split ? "Allgather" : "Allreduce");
    const Replayed how = collective(exchange, waits);
    return how == Replayed::measured || how == Replayed::failed_elsewhere ? how : Replayed::as_agreement;
}

// Empty if they are not known. There may be very many of them, and of calls.
const std::optional<Members>& ProcessReplay::members_of(const Communicator* communicator)
{
    const auto [known, is_new] = m_members.try_emplace(communicator);
    if (is_new)
        known->second = exporter::members_of(communicator, m_rank);
    return known->second;
}

Replayed ProcessReplay::start_collective(const Operation& operation, Replayed as_messages,
                                         std::vector<ReplayWait>& waits)
{
    const Communicator* communicator = m_replay.objects.communicator(m_rank, *operation.call);
    const std::optional<Members>& members = members_of(communicator);
    const std::optional<Exchange> messages = members ? direct_messages(operation, *members) : std::nullopt;
    if (!messages)
        return Replayed::measured;
    if (is_alone(*members))
        return Replayed::exactly;
    waits = exchange(*messages, m_summary.tags.of_collective(communicator, m_started[communicator]++));
    return as_messages;
}

std::vector<ReplayWait> ProcessReplay::exchange(const Exchange& round, std::int64_t tag)
{
    std::vector<ReplayWait> waits;
    for (const auto& [rank, size] : round.receives)
        m_actions.start_receive(rank, tag, size, waits);
    for (const auto& [rank, size] : round.sends)
        m_actions.start_send(rank, tag, size, waits);
    return waits;
}

} // namespace hdtrace::exporter
