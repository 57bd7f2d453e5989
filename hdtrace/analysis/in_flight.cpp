#include "hdtrace/analysis/in_flight.h"

#include <algorithm>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

/// That may have ended before the moment.
Selection begun_before(std::int64_t moment)
{
    Selection selection;
    selection.interval.end = moment == TimeInterval().begin ? moment : moment - 1;
    return selection;
}

bool is_partner(std::optional<std::int64_t> rank)
{
    return rank && *rank > proc_null;
}

/// How many ends of messages the matcher reports of an operation. Of a probed message it reports the probe.
std::int64_t message_ends(const Operation& operation)
{
    const CallFacts& facts = *operation.facts;
    const bool sends = facts.sends != SendMode::none && is_partner(operation.call->integer("toRank"));
    const bool receives = facts.receives != ReceiveKind::none && facts.receives != ReceiveKind::probed &&
                          (is_partner(operation.call->integer("fromRank")) ||
                           (operation.rid >= 0 && !operation.call->has("fromRank")));
    return (sends ? 1 : 0) + (receives ? 1 : 0);
}

} // namespace

InFlight::InFlight(std::shared_ptr<const OpenedProject> project, std::int64_t moment)
    : m_project(std::move(project)), m_moment(moment),
      m_states(m_project->existing_traces(), begun_before(moment)),
      m_messages(m_project->objects, [this](const Message& message) { add(message); }),
      m_collectives(
          m_project->objects, [this](const Collective& collective) { add(collective); },
          m_project->ranks_without_traces())
{
    m_collectives.follow_objects();
}

bool InFlight::read(std::size_t states)
{
    for (; states > 0 && !m_at_end; --states) {
        const State* state = m_states.next();
        if (!state)
            finish();
        else if (state->end < m_moment) // others are of the time behind it
            m_walk.add(m_states.trace(), *state);
    }
    return !m_at_end;
}

void InFlight::started(const Call&, const Operation& operation)
{
    const std::int64_t parts = message_ends(operation) + (operation.rid >= 0 ? 1 : 0);
    if (parts > 0)
        connected_with({operation.rank, operation.thread, operation.line}).open += parts;
}

// Of what was cancelled the matcher reports no message.
void InFlight::completed(const Call& call, const Completion& completion)
{
    const Operation* const operation = completion.operation;
    if (!operation || operation->rid < 0)
        return;
    const CallPlace start{operation->rank, operation->thread, operation->line};
    if (!m_open.contains(start))
        return;
    connect(start, {call.trace.rank, call.trace.thread, call.state.line});
    close(start, completion.outcome == Outcome::cancelled ? 1 + message_ends(*operation) : 1);
}

void InFlight::add(const Message& message)
{
    const auto place = [](std::int64_t rank, const MessageEnd& end) {
        return CallPlace{rank, end.thread, end.line};
    };
    if (message.send && message.receive) {
        const CallPlace send = place(message.source, *message.send);
        const CallPlace receive = place(message.destination, *message.receive);
        connect(send, receive);
        close(send);
        close(receive);
    } else if (message.send) {
        keep(place(message.source, *message.send));
    } else if (message.receive) {
        keep(place(message.destination, *message.receive));
    }
}

void InFlight::add(const Collective& collective)
{
    const auto place = [](const CollectiveCall& call) {
        return CallPlace{call.rank, call.thread, call.line};
    };
    const auto& calls = collective.calls;
    if (m_at_end)
        for (const CollectiveCall& call : calls)
            keep(place(call));
    else if (std::ranges::any_of(calls,
                                 [&](const CollectiveCall& call) { return m_open.contains(place(call)); }))
        for (const CollectiveCall& call : calls)
            connect(place(calls.front()), place(call));
}

InFlight::Connected& InFlight::connected_with(const CallPlace& call)
{
    std::shared_ptr<Connected>& connected = m_open[call];
    if (!connected)
        connected = std::make_shared<Connected>(Connected{0, {call}});
    return *connected;
}

void InFlight::connect(const CallPlace& call, const CallPlace& other)
{
    Connected* larger = &connected_with(call);
    Connected* smaller = &connected_with(other);
    if (larger == smaller)
        return;
    if (larger->calls.size() < smaller->calls.size())
        std::swap(larger, smaller);
    larger->open += smaller->open;
    const std::shared_ptr<Connected> united = m_open[larger->calls.front()];
    const std::vector<CallPlace> added = std::move(smaller->calls);
    for (const CallPlace& one : added)
        m_open[one] = united;
    united->calls.insert(united->calls.end(), added.begin(), added.end());
}

void InFlight::close(const CallPlace& call, std::int64_t count)
{
    const auto found = m_open.find(call);
    if (found == m_open.end())
        return;
    const std::shared_ptr<Connected> connected = found->second;
    connected->open -= count;
    if (connected->open > 0)
        return;
    for (const CallPlace& one : connected->calls)
        m_open.erase(one);
}

void InFlight::keep(const CallPlace& call)
{
    if (call.line > 0)
        m_lines[{call.rank, call.thread}].insert(call.line);
}

void InFlight::finish()
{
    m_at_end = true;
    m_messages.finish();
    m_collectives.finish();
    for (const auto& [call, connected] : m_open)
        keep(call);
}

const std::set<std::int64_t>& InFlight::lines_of(const TraceFile& trace) const
{
    static const std::set<std::int64_t> none;
    const auto lines = m_lines.find({trace.rank, trace.thread});
    return lines == m_lines.end() ? none : lines->second;
}

} // namespace hdtrace
