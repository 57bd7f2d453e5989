#include "hdtrace/matching/walk.h"

namespace hdtrace {
namespace {

/// Whether a call without a request does something that takes its time.
bool is_operation(const CallFacts& facts)
{
    return facts.progress == CallProgress::blocking &&
           (facts.sends != SendMode::none || facts.receives != ReceiveKind::none ||
            facts.collective != CollectiveKind::none || facts.file != FileAccess::none);
}

/// One that is over with its call.
Operation blocking_operation(const Call& call)
{
    Operation operation = operation_of(call, -1, call.facts);
    operation.call = &call.state;
    operation.children = &call.state.children;
    return operation;
}

bool accesses_file(const CallFacts& facts)
{
    return facts.file == FileAccess::read || facts.file == FileAccess::write ||
           facts.file == FileAccess::sync;
}

std::int64_t id_in(const State& state, std::string_view attribute)
{
    return attribute.empty() ? -1 : state.integer(attribute).value_or(-1);
}

bool changes_objects(const CallFacts& facts)
{
    return facts.makes != ObjectKind::none || facts.frees != ObjectKind::none;
}

void tell_of_objects(const Call& call, const std::vector<EventVisitor*>& visitors)
{
    const CallFacts& facts = call.facts;
    for (EventVisitor* visitor : visitors) {
        if (facts.makes != ObjectKind::none)
            visitor->made(call, facts.makes, id_in(call.state, facts.made_id));
        if (facts.frees != ObjectKind::none)
            visitor->freed(call, facts.frees, id_in(call.state, facts.freed_id));
    }
}

// A region may be called like a function.
constexpr CallFacts no_facts;

} // namespace

bool did_something(const State& state)
{
    const auto error = state.find("rc");
    return !state.is_unfinished() && (!error || *error == "MPI_ERR_TRUNCATE");
}

void EventWalk::add(const TraceFile& trace, const State& state)
{
    if (state.is_event)
        return mark(trace, state);
    const Call call = call_of(trace, state, m_numbers++);
    begin(call);
    end(call);
}

void EventWalk::begin(const TraceFile& trace, const State& state)
{
    if (state.is_event)
        return;
    const std::int64_t number = m_numbers++;
    m_begun[{trace.rank, trace.thread}] = number;
    begin(call_of(trace, state, number));
}

void EventWalk::end(const TraceFile& trace, const State& state)
{
    if (state.is_event)
        mark(trace, state);
    else
        end(call_of(trace, state, m_begun[{trace.rank, trace.thread}]));
}

std::size_t EventWalk::add_some(MergedTraces& states, std::size_t most)
{
    for (std::size_t done = 0; done < most; ++done) {
        const State* state = states.next();
        if (!state)
            return done;
        add(states.trace(), *state);
    }
    return most;
}

void EventWalk::add_all(MergedTraces& states)
{
    while (const State* state = states.next())
        add(states.trace(), *state);
}

Call EventWalk::call_of(const TraceFile& trace, const State& state, std::int64_t number) const
{
    return {.trace = trace,
            .state = state,
            .facts = facts_of(state.name),
            .depth = m_regions.depth(trace),
            .region = m_regions.path(trace),
            .number = number};
}

void EventWalk::leave_out_uninterested()
{
    using Event = EventVisitor::Event;
    const auto keep = [](Visitors& visitors, std::initializer_list<Event> events) {
        std::erase_if(visitors, [&](const EventVisitor* visitor) { return !visitor->wants_any(events); });
    };
    keep(m_entering, {Event::enter});
    keep(m_leaving, {Event::leave});
    keep(m_joining, {Event::joined});
    keep(m_starting, {Event::started, Event::sent, Event::accessed});
    keep(m_completing, {Event::completed, Event::received});
}

void EventWalk::begin(const Call& call)
{
    constexpr std::uint64_t calls_between = 1024;
    if (++m_calls % calls_between == 0)
        leave_out_uninterested();
    for (EventVisitor* visitor : m_entering)
        visitor->enter(call);
    if (m_follow == Follow::operations)
        begin_operations(call);
}

void EventWalk::begin_operations(const Call& call)
{
    for (const OperationPointer& operation : m_requests.begin(call))
        start(call, *operation);
    if (is_operation(call.facts) && did_something(call.state))
        start(call, blocking_operation(call));
    if (call.facts.collective != CollectiveKind::none && !call.state.is_unfinished())
        for (EventVisitor* visitor : m_joining)
            visitor->joined(call);
}

void EventWalk::end(const Call& call)
{
    const bool is_inside_call = call.is_inside_call || call.facts.call_class != CallClass::other;
    for (const State& nested : call.state.nested) {
        if (nested.is_event) {
            mark(call.trace, nested);
            continue;
        }
        const Call inner = {.trace = call.trace,
                            .state = nested,
                            .facts = facts_of(nested.name),
                            .depth = call.depth + 1,
                            .nesting = call.nesting + 1,
                            .is_inside_call = is_inside_call,
                            .region = m_regions.path(call.trace),
                            .number = m_numbers++,
                            .parent = call.number};
        begin(inner);
        end(inner);
    }
    if (m_follow == Follow::operations)
        end_operations(call);
    if (changes_objects(call.facts) && did_something(call.state))
        tell_of_objects(call, m_visitors);
    for (EventVisitor* visitor : m_leaving)
        visitor->leave(call);
}

void EventWalk::end_operations(const Call& call)
{
    for (const Completion& completion : m_requests.end(call))
        complete(call, completion);
    if (is_operation(call.facts) && did_something(call.state)) {
        const Operation operation = blocking_operation(call);
        complete(call, {&operation, -1, Outcome::completed, call.state.end, &call.state});
    }
}

void EventWalk::start(const Call& call, const Operation& operation)
{
    const bool sends = operation.facts->sends != SendMode::none;
    const bool accesses = accesses_file(*operation.facts);
    for (EventVisitor* visitor : m_starting) {
        if (visitor->wants(EventVisitor::Event::started))
            visitor->started(call, operation);
        if (sends && visitor->wants(EventVisitor::Event::sent))
            visitor->sent(call, operation);
        if (accesses && visitor->wants(EventVisitor::Event::accessed))
            visitor->accessed(call, operation);
    }
}

void EventWalk::complete(const Call& call, const Completion& completion)
{
    const bool received = completion.operation && completion.outcome == Outcome::completed &&
                          completion.operation->facts->receives != ReceiveKind::none;
    for (EventVisitor* visitor : m_completing) {
        if (visitor->wants(EventVisitor::Event::completed))
            visitor->completed(call, completion);
        if (received && visitor->wants(EventVisitor::Event::received))
            visitor->received(call, completion);
    }
}

void EventWalk::mark(const TraceFile& trace, const State& event)
{
    switch (event_kind(event)) {
    case EventKind::begin:
        return begin_region(trace, event);
    case EventKind::end:
        return end_region(trace, event);
    case EventKind::mark:
    case EventKind::count:
        break;
    }
    for (EventVisitor* visitor : m_visitors)
        visitor->mark(call_of(trace, event, -1));
}

void EventWalk::begin_region(const TraceFile& trace, const State& event)
{
    const std::int32_t depth = m_regions.depth(trace);
    const OpenRegions::Region& open = m_regions.begin(trace, event, m_numbers++);
    State region;
    region.name = open.name;
    region.time = region.end = open.time;
    region.line = open.line;
    tell_of_region({.trace = trace,
                    .state = region,
                    .facts = no_facts,
                    .depth = depth,
                    .region = open.around,
                    .own_region = open.path,
                    .number = open.number},
                   &EventVisitor::enter);
}

// Of a region whose beginning was not read only the end is told.
void EventWalk::end_region(const TraceFile& trace, const State& event)
{
    const OpenRegions::Region ended = m_regions.end(trace, event);
    State region;
    region.name = ended.name;
    region.time = ended.time;
    region.end = event.time;
    region.line = event.line;
    if (!event.children.empty()) { // the first one has the region's own attributes
        region.attributes = event.children.front().attributes;
        region.children.assign(event.children.begin() + 1, event.children.end());
    }
    tell_of_region({.trace = trace,
                    .state = region,
                    .facts = no_facts,
                    .depth = ended.depth,
                    .region = ended.around,
                    .own_region = ended.path,
                    .overlapped_from = ended.overlapped_from,
                    .number = ended.number >= 0 ? ended.number : m_numbers++},
                   &EventVisitor::leave);
}

void EventWalk::tell_of_region(const Call& region, void (EventVisitor::*what)(const Call&))
{
    for (EventVisitor* visitor : m_visitors)
        (visitor->*what)(region);
}

} // namespace hdtrace
