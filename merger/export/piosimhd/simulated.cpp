#include "merger/export/piosimhd/simulated.h"

#include <algorithm>

namespace hdtrace::exporter::piosimhd {

namespace {

using Kind = Command::Kind;

bool is_natural(std::optional<std::int64_t> number)
{
    return number.value_or(-1) >= 0;
}

bool has_partner(const State& state, const AttributeName& rank, const AttributeName& tag)
{
    return is_natural(state.integer(rank)) && is_natural(state.integer(tag));
}

} // namespace

Simulated::Simulated(const Project& project, const ObjectTable& objects, const std::vector<TraceFile>& traces)
    : m_objects(objects)
{
    walk(traces);
    look_at_ends(project, traces);
}

void Simulated::walk(const std::vector<TraceFile>& traces)
{
    MessageMatcher messages(m_objects, [this](const Message& message) { match(message); });
    CollectiveMatcher collectives(m_objects, [this](const Collective& collective) { match(collective); });
    collectives.follow_objects();
    EventWalk walk({this, &messages, &collectives});
    Selection all;
    all.unfinished = true;
    MergedTraces calls(traces, all);
    std::map<Key, std::int64_t> numbers;
    while (State* state = calls.next()) {
        const TraceFile& trace = calls.trace();
        state->line = ++numbers[{trace.rank, trace.thread}]; // what the matchers say of a call
        for (State& nested : state->nested)
            nested.line = 0;
        m_begin = std::min(m_begin, state->time);
        m_end = std::max(m_end, state->end);
        if (!state->is_unfinished())
            walk.add(trace, *state);
    }
    messages.finish();
    collectives.finish();
}

/// These calls wait for all processes; what the simulator does with a second thread that makes none of them
/// is not known.
void Simulated::look_at_ends(const Project& project, const std::vector<TraceFile>& traces)
{
    std::map<std::int64_t, int> threads;
    for (const TraceFile& trace : traces)
        ++threads[trace.rank];
    const auto all_have_one = [&](const std::map<std::int64_t, int>& counts) {
        return std::ssize(counts) == project.process_count &&
               std::ranges::all_of(counts, [](const auto& one) { return one.second == 1; });
    };
    const bool have_threads = !all_have_one(threads);
    m_all_init = !have_threads && all_have_one(m_inits);
    m_all_finalize = !have_threads && all_have_one(m_finalizes);
}

void Simulated::enter(const Call& call)
{
    const State& state = call.state;
    if (call.nesting > 0 || state.is_event || state.line <= 0 || call.has_failed())
        return;
    const Command* const command = find_command(state.name);
    if (command == nullptr || !can_be_done(call, *command))
        return;
    add_line(m_marks[{call.trace.rank, call.trace.thread}].candidates, state.line);
    if (command->kind == Kind::synchronization)
        ++(command->name == "Init" ? m_inits : m_finalizes)[call.trace.rank];
}

bool Simulated::can_be_done(const Call& call, const Command& command)
{
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    switch (command.kind) {
    case Kind::send:
        return is_natural(state.integer("size")) && has_partner(state, "toRank", "toTag");
    case Kind::receive:
        return has_partner(state, "fromRank", "fromTag");
    case Kind::exchange:
        return is_natural(state.integer("size"));
    case Kind::collective:
    case Kind::rooted:
        return can_be_collective(rank, state, command.kind == Kind::rooted);
    case Kind::open:
        return m_objects.file(rank, state) != nullptr && m_objects.communicator(rank, state) != nullptr;
    case Kind::close:
    case Kind::view:
        return m_objects.file(rank, state) != nullptr;
    case Kind::access:
    case Kind::access_by_all:
        return m_objects.file(rank, state) != nullptr && is_natural(state.integer("offset")) &&
               is_natural(state.integer("size"));
    case Kind::synchronization:
    case Kind::wait:
        return true;
    }
    return false;
}

bool Simulated::can_be_collective(std::int64_t rank, const State& state, bool has_root)
{
    const Communicator* const communicator = m_objects.communicator(rank, state);
    if (communicator == nullptr)
        return false;
    const auto known = m_shapes.find(communicator);
    const Shape shape =
        known != m_shapes.end() ? known->second : (m_shapes[communicator] = shape_of(*communicator));
    const std::int64_t root = state.integer("rootRank").value_or(-1);
    return shape.is_one_group &&
           (!has_root || (shape.has_ranks_of_world && root >= 0 && root < std::ssize(communicator->members)));
}

Simulated::Shape Simulated::shape_of(const Communicator& communicator)
{
    Shape shape;
    for (const Communicator::Member& member : communicator.members) {
        shape.is_one_group = shape.is_one_group && !member.group;
        shape.has_ranks_of_world = shape.has_ranks_of_world && member.global == member.local;
    }
    return shape;
}

void Simulated::match(const Message& message)
{
    if (!message.send || !message.receive || message.communicator == nullptr ||
        !is_candidate(message.source, *message.send) || !is_candidate(message.destination, *message.receive))
        return;
    add_line(m_marks[{message.source, message.send->thread}].sends, message.send->line);
    add_line(m_marks[{message.destination, message.receive->thread}].receives, message.receive->line);
}

/// Blocking, at the top level of a trace.
bool Simulated::is_candidate(std::int64_t rank, const MessageEnd& end) const
{
    const auto marks = m_marks.find({rank, end.thread});
    return marks != m_marks.end() && has(marks->second.candidates, end.line);
}

void Simulated::match(const Collective& collective)
{
    if (collective.communicator == nullptr || std::ssize(collective.calls) != collective.communicator->size())
        return;
    const Command* const first = find_command(collective.calls.front().name);
    for (const CollectiveCall& call : collective.calls) {
        const Command* const command = find_command(call.name);
        const auto marks = m_marks.find({call.rank, call.thread});
        if (!first || !command || command->name != first->name || call.has_failed || marks == m_marks.end() ||
            !has(marks->second.candidates, call.line))
            return;
    }
    for (const CollectiveCall& call : collective.calls)
        add_line(m_marks[{call.rank, call.thread}].joins, call.line);
}

void Simulated::add_line(Numbers& numbers, std::size_t number)
{
    if (numbers.size() <= number)
        numbers.resize(number + number / 2 + 64);
    numbers[number] = true;
}

bool Simulated::has(const Numbers& numbers, std::size_t number)
{
    return number < numbers.size() && numbers[number];
}

const Simulated::Marks* Simulated::marks_of(const TraceFile& trace) const
{
    const auto found = m_marks.find({trace.rank, trace.thread});
    return found == m_marks.end() ? nullptr : &found->second;
}

bool Simulated::sends(const TraceFile& trace, std::size_t number) const
{
    const Marks* const marks = marks_of(trace);
    return marks != nullptr && has(marks->sends, number);
}

bool Simulated::receives(const TraceFile& trace, std::size_t number) const
{
    const Marks* const marks = marks_of(trace);
    return marks != nullptr && has(marks->receives, number);
}

bool Simulated::joins(const TraceFile& trace, std::size_t number) const
{
    const Marks* const marks = marks_of(trace);
    return marks != nullptr && has(marks->joins, number);
}

} // namespace hdtrace::exporter::piosimhd
