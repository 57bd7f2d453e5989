#include "hdtrace/analysis/in_flight.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "hdtrace/analysis/fatal_signals.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/one_sided_rules.h"

namespace hdtrace {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr ObjectKind prepared_request = ObjectKind::none; // it is no object with a kind

bool is_partner(std::optional<std::int64_t> rank)
{
    return rank && *rank > proc_null;
}

/// How many ends of messages the matcher reports of an operation. That of a probed message counts for its
/// probe.
std::int64_t message_ends(const Operation& operation)
{
    const CallFacts& facts = *operation.facts;
    const bool sends = facts.sends != SendMode::none && is_partner(operation.call->integer("toRank"));
    const bool receives = facts.receives != ReceiveKind::none && facts.receives != ReceiveKind::probed &&
                          (is_partner(operation.call->integer("fromRank")) ||
                           (operation.rid >= 0 && !operation.call->has("fromRank")));
    return (sends ? 1 : 0) + (receives ? 1 : 0);
}

/// Whether the matcher takes a message for the receive that follows.
bool has_taken_message(const Call& call)
{
    return call.facts.probes == ProbeKind::takes && !call.has_failed() && call.state.integer("flag") != 0 &&
           is_partner(call.state.integer("fromRank")) && call.state.has("fromTag");
}

/// Whether all that a call does, with what is inside it, is to complete what others have started.
bool only_completes(const Call& call)
{
    const CallFacts& facts = call.facts;
    const bool completes = facts.progress == CallProgress::waits || facts.progress == CallProgress::tests;
    return completes && facts.collective == CollectiveKind::none && call.nesting == 0 &&
           std::ranges::all_of(call.state.nested, &State::is_event);
}

/// Whether a call returns only when all members have called (MPI 4.0, 6.3), also because it needs data of
/// all.
bool waits_for_all(const CollectiveCall& call, const Communicator& communicator)
{
    const CallFacts& facts = facts_of(call.name);
    if (facts.progress != CallProgress::blocking || call.has_failed || communicator.is_inter())
        return false;
    const bool has_data_of_all = facts.collective == CollectiveKind::all_to_all && !facts.lists_sends &&
                                 !facts.lists_receives && call.bytes > 0;
    return has_data_of_all || facts.collective == CollectiveKind::barrier;
}

void set_lines(State& state, std::int64_t line)
{
    state.line = line;
    for (State& nested : state.nested)
        set_lines(nested, line);
}

void add_moments(LastMoments& moments, const Pending::Activity& activity)
{
    const bool goes_on = !activity.state.name.empty() && !activity.state.is_unfinished();
    moments.add(activity.trace->thread, goes_on ? activity.state.end : activity.state.time);
    if (facts_of(activity.last).life == LifeCycle::ends)
        moments.finalized = activity.state.end;
}

const State& innermost_at(const State& state, std::int64_t moment)
{
    for (const State& nested : state.nested)
        if (!nested.is_event && nested.time <= moment && moment < nested.end)
            return innermost_at(nested, moment);
    return state;
}

// Of these receives it is not known whether they got a message.
bool is_doubtful_receive(const Completion& completion)
{
    if (completion.operation->facts->receives == ReceiveKind::none ||
        completion.operation->facts->sends != SendMode::none)
        return false;
    const bool is_too_large = completion.what && completion.what->find("rc") == "MPI_ERR_TRUNCATE";
    return completion.outcome == Outcome::perhaps_cancelled ||
           (completion.outcome == Outcome::failed && !is_too_large);
}

} // namespace

InFlight::InFlight(std::shared_ptr<const OpenedProject> project, Snapshot start)
    : m_project(std::move(project)), m_traces(m_project->existing_traces()), m_last(m_traces.size()),
      m_without_calls(m_project->ranks_without_calls()),
      m_matches(!Beginnings(m_project->project).are_missing() &&
                !one_sided_rules(m_project->project).of_messages),
      m_messages(m_project->objects, [this](const Message& message) { add(message); }),
      m_collectives(
          m_project->objects, [this](const Collective& collective) { add(collective); }, m_without_calls),
      m_walk(m_matches ? EventWalk{{this, &m_messages}} : EventWalk{{this}})
{
    for (std::size_t place = 0; place < m_traces.size(); ++place)
        m_places.try_emplace({m_traces[place].rank, m_traces[place].thread}, place);
    m_collectives.follow_objects();
    restore(std::move(start));
}

void InFlight::restore(Snapshot start)
{
    for (Snapshot::Begun& begun : start.begun)
        add(m_traces[begun.trace], begun.state);
    advance(start.moment);
    if (!start.last.empty())
        m_last = std::move(start.last);
}

void InFlight::add(const TraceFile& trace, State& state)
{
    advance(state.time);
    if (state.is_event)
        return add_event(trace, state);
    const Begun& begun = begin(m_traces[place_of(trace)], state);
    m_walk.begin(*begun.trace, begun.state);
}

const InFlight::Begun& InFlight::begin(const TraceFile& trace, State& state)
{
    const std::int64_t number = ++m_last_number;
    Calls::node_type node = m_spare.take(number);
    Begun& begun = node.mapped();
    begun.trace = &trace;
    std::swap(begun.state, state);
    begun.line = begun.state.line;
    set_lines(begun.state, number);
    begun.lasts = true;
    begun.joined = 0;
    begun.completed_by.clear();
    if (begun.connected.use_count() != 1)
        begun.connected = std::make_shared<Connected>();
    begun.connected->open = 0;
    begun.connected->lasting = 1;
    begun.connected->calls.assign(1, number);
    m_lasting.emplace(begun.state.is_unfinished() ? never : begun.state.end, number);
    return m_begun.insert(m_begun.end(), std::move(node))->second;
}

void InFlight::advance(std::int64_t moment)
{
    m_moment = std::max(m_moment, moment);
    while (!m_lasting.empty() && m_lasting.begin()->first <= moment && m_lasting.begin()->first != never) {
        const std::int64_t number = m_lasting.begin()->second;
        m_lasting.erase(m_lasting.begin());
        end(number);
    }
}

void InFlight::end(std::int64_t number)
{
    Begun& begun = m_begun.at(number);
    const State& state = begun.state;
    m_walk.end(*begun.trace, state);
    for (const auto& [start, count] : std::exchange(m_over, {}))
        close(start, count);
    for (const State& nested : state.nested)
        if (nested.is_event)
            add_event(*begun.trace, nested);
    follow_prepared(begun);
    m_last[place_of(*begun.trace)] = {state.end, state.name};
    begun.lasts = false;
    const std::shared_ptr<Connected> connected = begun.connected;
    --connected->lasting;
    drop_if_over(*connected);
}

void InFlight::add_event(const TraceFile& trace, State event)
{
    const EventKind kind = event_kind(event);
    if (kind == EventKind::end) {
        m_region_begins.erase(m_regions.end(trace, event).line);
    } else if (kind == EventKind::begin) {
        Begun& begun = m_region_begins[++m_last_number];
        begun.line = event.line;
        event.line = m_last_number;
        m_regions.begin(trace, event);
        begun.trace = &m_traces[place_of(trace)];
        begun.state = std::move(event);
    }
}

void InFlight::follow_prepared(const Begun& begun)
{
    const State& state = begun.state;
    const std::int64_t rank = begun.trace->rank;
    const CallProgress progress = facts_of(state.name).progress;
    if (progress == CallProgress::activates) {
        add_start(rank, state, state.line);
        for (const Element& child : state.children)
            add_start(rank, child, state.line);
        return;
    }
    const auto request = state.integer("rid");
    if (!request)
        return;
    const ObjectId prepared(rank, prepared_request, *request);
    if (progress == CallProgress::prepares)
        keep_while_it_lives(prepared, state.line);
    else if (progress == CallProgress::releases)
        release(prepared, state.line);
}

void InFlight::add_start(std::int64_t rank, const Element& start, std::int64_t number)
{
    const auto request = start.integer("initRid");
    if (!request)
        return;
    std::vector<std::int64_t>& starts = m_starts[{rank, prepared_request, *request}];
    if (std::has_single_bit(starts.size())) // rarely enough, and before there are many that are over
        std::erase_if(starts, [this](std::int64_t one) { return !m_begun.contains(one); });
    starts.push_back(number);
}

// What it has started may still be in flight, and is not understood without it.
void InFlight::release(const ObjectId& prepared, std::int64_t number)
{
    const auto maker = m_makers.find(prepared);
    const auto starts = m_starts.extract(prepared);
    const auto is_in_flight = [this](std::int64_t start) { return m_begun.contains(start); };
    if (maker != m_makers.end() && starts && std::ranges::any_of(starts.mapped(), is_in_flight)) {
        connect(maker->second, number);
        for (const std::int64_t start : starts.mapped())
            connect(maker->second, start); // if it is in flight
    }
    let_go(prepared);
}

// Later calls on it are only understood with the call that made it.
void InFlight::keep_while_it_lives(const ObjectId& object, std::int64_t number)
{
    if (m_makers.try_emplace(object, number).second)
        open(number);
}

void InFlight::let_go(const ObjectId& object)
{
    if (const auto maker = m_makers.extract(object))
        close(maker.mapped());
}

void InFlight::made(const Call& call, ObjectKind kind, std::int64_t id)
{
    if (kind == ObjectKind::file || kind == ObjectKind::window)
        keep_while_it_lives({call.trace.rank, kind, id}, call.state.line);
}

void InFlight::freed(const Call& call, ObjectKind kind, std::int64_t id)
{
    if (kind == ObjectKind::file || kind == ObjectKind::window)
        let_go({call.trace.rank, kind, id});
}

// A process that was ended inside a collective call had called it; the walk tells of those that have ended.
void InFlight::enter(const Call& call)
{
    const bool is_collective = call.nesting == 0 && call.facts.collective != CollectiveKind::none;
    if (is_collective && call.state.is_unfinished() && !call.has_failed())
        joined(call);
}

void InFlight::leave(const Call& call)
{
    if (m_matches && has_taken_message(call))
        open(call.state.line);
}

void InFlight::joined(const Call& call)
{
    join(call, call.state.line);
}

/// A call, or a start of what was prepared.
template <class Joining> void InFlight::join(const Joining& joining, std::int64_t number)
{
    if (!m_matches)
        return;
    const auto begun = m_begun.find(number);
    ++begun->second.joined;
    open(number);
    if (!m_collectives.take(joining)) {
        --begun->second.joined;
        close(number);
    }
}

void InFlight::started(const Call&, const Operation& operation)
{
    open(operation.line, ends_of(operation) + (operation.rid >= 0 ? 1 : 0));
    if (operation.facts->collective != CollectiveKind::none)
        join(operation, operation.line);
}

// That the matcher reports.
std::int64_t InFlight::ends_of(const Operation& operation) const
{
    return m_matches ? message_ends(operation) : 0;
}

// Of what was cancelled, or may have been, the matcher reports no message. Of others it may only do so now,
// behind this.
void InFlight::completed(const Call& call, const Completion& completion)
{
    const Operation* const operation = completion.operation;
    if (!operation || operation->rid < 0)
        return;
    if (only_completes(call))
        keep_completing(operation->line, call.state.line);
    else
        connect(operation->line, call.state.line);
    const bool has_no_message = completion.outcome == Outcome::cancelled || is_doubtful_receive(completion);
    m_over.emplace_back(operation->line, has_no_message ? 1 + ends_of(*operation) : 1);
}

void InFlight::add(const Message& message)
{
    if (m_is_asked) {
        if (message.send && !message.receive)
            m_unreceived.push_back(message);
        return;
    }
    const std::int64_t send = message.send->line, receive = message.receive->line,
                       probe = message.receive->probe_line;
    connect(send, receive);
    if (probe > 0) {
        connect(probe, receive);
        close(probe);
    } else {
        close(receive);
    }
    close(send);
}

void InFlight::add(const Collective& collective)
{
    const auto& calls = collective.calls;
    if (m_is_asked) {
        const bool have_all_called = std::ranges::any_of(calls, [&](const CollectiveCall& call) {
            return has_ended(call) && waits_for_all(call, *collective.communicator);
        });
        if (!have_all_called)
            m_incomplete.push_back(collective);
        return;
    }
    for (const CollectiveCall& call : calls)
        connect(calls.front().line, call.line);
    for (const CollectiveCall& call : calls)
        if (const auto begun = m_begun.find(call.line); begun != m_begun.end() && begun->second.joined > 0) {
            --begun->second.joined;
            close(call.line);
        }
}

bool InFlight::has_ended(const CollectiveCall& call) const
{
    const auto begun = m_begun.find(call.line);
    return begun != m_begun.end() && !begun->second.lasts;
}

void InFlight::open(std::int64_t number, std::int64_t count)
{
    if (const auto begun = m_begun.find(number); begun != m_begun.end())
        begun->second.connected->open += count;
}

void InFlight::close(std::int64_t number, std::int64_t count)
{
    const auto begun = m_begun.find(number);
    if (begun == m_begun.end())
        return;
    const std::shared_ptr<Connected> connected = begun->second.connected;
    // In traces of other tools more may end than has begun: they do not tell all calls.
    connected->open = std::max<std::int64_t>(connected->open - count, 0);
    drop_if_over(*connected);
}

void InFlight::drop_if_over(Connected& connected)
{
    if (connected.open == 0 && connected.lasting == 0)
        for (const std::int64_t one : connected.calls)
            drop(one);
}

void InFlight::drop(std::int64_t number)
{
    Calls::node_type node = m_begun.extract(number);
    for (const std::int64_t completing : node.mapped().completed_by)
        close(completing);
    m_spare.add(std::move(node));
}

// What a call completes is not connected by it: a program that always has something in flight, which it
// completes together with what came before, would connect the whole run.
void InFlight::keep_completing(std::int64_t start, std::int64_t completing)
{
    if (const auto begun = m_begun.find(start); begun != m_begun.end()) {
        begun->second.completed_by.push_back(completing);
        open(completing);
    }
}

void InFlight::connect(std::int64_t number, std::int64_t other)
{
    const auto one = m_begun.find(number), two = m_begun.find(other);
    if (one == m_begun.end() || two == m_begun.end())
        return;
    std::shared_ptr<Connected> larger = one->second.connected, smaller = two->second.connected;
    if (larger == smaller)
        return;
    if (larger->calls.size() < smaller->calls.size())
        std::swap(larger, smaller);
    larger->open += smaller->open;
    larger->lasting += smaller->lasting;
    for (const std::int64_t call : smaller->calls)
        m_begun.at(call).connected = larger;
    larger->calls.insert(larger->calls.end(), smaller->calls.begin(), smaller->calls.end());
}

Snapshot InFlight::snapshot() const
{
    Snapshot snapshot{m_moment, {}, m_last};
    std::map<std::int64_t, const Begun*> in_order;
    // A process died in what is unfinished: who reads on does not meet it again.
    for (const auto& [number, begun] : m_begun)
        if (!begun.lasts || (begun.state.is_unfinished() && begun.state.end <= m_moment))
            in_order.emplace(number, &begun);
    for (const auto& [number, begun] : m_region_begins)
        in_order.emplace(number, &begun);
    for (const auto& [number, begun] : in_order) {
        snapshot.begun.push_back({place_of(*begun->trace), begun->state});
        set_lines(snapshot.begun.back().state, begun->line);
    }
    return snapshot;
}

std::set<std::int64_t> InFlight::lines_of(const TraceFile& trace) const
{
    std::set<std::int64_t> lines;
    for (const auto& [number, begun] : m_begun)
        if (!begun.lasts && begun.trace->rank == trace.rank && begun.trace->thread == trace.thread)
            lines.insert(begun.line);
    return lines;
}

std::int64_t InFlight::line_of(std::int64_t number) const
{
    const auto begun = m_begun.find(number);
    return begun == m_begun.end() ? 0 : begun->second.line;
}

const TraceFile* InFlight::trace_of(std::int64_t number) const
{
    const auto begun = m_begun.find(number);
    return begun == m_begun.end() ? nullptr : begun->second.trace;
}

Pending::Activity InFlight::activity_in(const Begun& begun) const
{
    Pending::Activity activity{begun.trace, innermost_at(begun.state, m_moment), {}, {}};
    set_lines(activity.state, begun.line);
    return activity;
}

std::vector<Pending::Activity> InFlight::activities() const
{
    std::map<std::size_t, Pending::Activity> by_trace;
    for (const auto& [end, number] : m_lasting) {
        const Begun& begun = m_begun.at(number);
        by_trace.insert_or_assign(place_of(*begun.trace), activity_in(begun));
    }
    std::vector<Pending::Activity> all;
    for (std::size_t place = 0; place < m_traces.size(); ++place) {
        const TraceFile& trace = m_traces[place];
        Pending::Activity activity;
        if (const auto found = by_trace.find(place); found != by_trace.end())
            activity = std::move(found->second);
        else
            activity.last = m_last[place].name;
        if (activity.state.name.empty() && activity.last.empty())
            continue;
        if (activity.state.name.empty())
            activity.state.time = activity.state.end = m_last[place].end;
        activity.trace = &trace;
        activity.region = m_regions.paths().text(m_regions.path(trace));
        all.push_back(std::move(activity));
    }
    return all;
}

void InFlight::add_signals(std::vector<Pending::Activity>& activities) const
{
    const std::map<std::int64_t, const FatalSignal*> signals = ending_signals(activities);
    for (Pending::Activity& activity : activities)
        if (const auto found = signals.find(activity.trace->rank); found != signals.end())
            activity.signal = found->second;
}

/// By rank.
std::map<std::int64_t, const FatalSignal*>
InFlight::ending_signals(const std::vector<Pending::Activity>& activities) const
{
    std::map<std::int64_t, LastMoments> moments;
    for (const Pending::Activity& activity : activities)
        add_moments(moments[activity.trace->rank], activity);
    std::map<std::int64_t, const FatalSignal*> signals;
    for (const RunProcess& process : m_project->project.run.processes) {
        if (process.signals.empty())
            continue;
        LastMoments& of_process = moments[process.rank];
        for (const RunThread& thread : process.threads)
            of_process.add(thread.number, thread.end.value_or(thread.begin));
        for (const FatalSignal& signal : process.signals)
            if (signal.time <= m_moment && !survived(of_process, signal))
                signals.try_emplace(process.rank, &signal);
    }
    return signals;
}

std::vector<Pending::Request> InFlight::requests() const
{
    std::vector<Pending::Request> requests;
    for (const OperationPointer& operation : m_walk.requests().pending()) {
        Pending::Request request;
        request.trace = trace_of(operation->line);
        if (!request.trace)
            continue;
        static_cast<Element&>(request.state) = *operation->call;
        request.state.time = operation->time;
        request.state.end = operation->end;
        request.state.line = line_of(operation->line);
        requests.push_back(std::move(request));
    }
    return requests;
}

Pending InFlight::pending()
{
    m_is_asked = true;
    Pending pending{activities(), requests(), {}, {}, m_without_calls};
    add_signals(pending.activities);
    m_messages.finish();
    m_collectives.finish();
    pending.messages = std::move(m_unreceived);
    pending.collectives = std::move(m_incomplete);
    for (Message& message : pending.messages)
        message.send->line = line_of(message.send->line);
    for (Collective& collective : pending.collectives)
        for (CollectiveCall& call : collective.calls)
            call.line = line_of(call.line);
    return pending;
}

} // namespace hdtrace
