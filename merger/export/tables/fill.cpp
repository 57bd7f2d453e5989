#include "merger/export/tables/fill.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/volumes.h"
#include "merger/export/processes.h"

namespace hdtrace::exporter::tables {
namespace {

void append_attributes(std::string& arguments, const Element& element)
{
    for (const auto [name, value] : element.attributes) {
        if (!arguments.empty())
            arguments += ' ';
        arguments.append(name).append("=").append(value);
    }
}

/// Its memory is used again.
void set_arguments(std::string& arguments, const State& state)
{
    arguments.clear();
    append_attributes(arguments, state);
    for (const Element& child : state.children) {
        arguments += (arguments.empty() ? "(" : " (") + child.name;
        append_attributes(arguments, child);
        arguments += ')';
    }
}

using Row = std::initializer_list<Value>;

void add(RowSink& sink, Which table, Row row)
{
    sink.add(table, std::span(row.begin(), row.size()));
}

Value optional(std::optional<std::int64_t> number)
{
    return number ? Value(*number) : Value();
}

Value optional(std::optional<std::string_view> text)
{
    return text ? Value(*text) : Value();
}

/// A number of a call: those that are not known are negative.
Value number_if_known(std::int64_t number)
{
    return number >= 0 ? Value(number) : Value();
}

/// Its place in the list that it is in.
template <class Object> Value number_of(const std::vector<Object>& all, const Object* object)
{
    return object ? Value(static_cast<std::int64_t>(object - all.data())) : Value();
}

template <class Object> std::int64_t number_in(const std::vector<Object>& all, const Object& object)
{
    return &object - all.data();
}

std::string_view outcome_name(Outcome outcome)
{
    switch (outcome) {
    case Outcome::completed:
        return "completed";
    case Outcome::cancelled:
        return "cancelled";
    case Outcome::failed:
        return "failed";
    case Outcome::freed:
        return "freed";
    case Outcome::perhaps_cancelled:
        return "perhaps cancelled";
    }
    return {};
}

// --- objects ---

void add_description(RowSink& sink)
{
    for (const Table& table : tables())
        for (const Column& column : table.columns)
            add(sink, Which::columns,
                {table.name, column.name, type_name(column.type), column.refers_to, column.description});
}

void add_processes(const Project& project, const NumberedTraces& numbered, RowSink& sink)
{
    const std::vector<TraceFile>& traces = numbered.traces;
    std::map<std::int64_t, std::string> hosts;
    for (const TraceFile& trace : traces) {
        std::string& host = hosts.try_emplace(trace.rank).first->second;
        const std::size_t levels = trace.rank < numbered.first_other ? 1 : trace.labels.size();
        if (host.empty())
            for (std::size_t i = 0; i < std::min(levels, trace.labels.size()); ++i)
                host += (i > 0 ? " " : "") + trace.labels[i];
    }
    std::set<std::int64_t> traced;
    for (const TraceFile& trace : traces)
        traced.insert(trace.rank);
    for (std::int64_t rank = 0; rank < numbered.rank_count; ++rank)
        hosts.try_emplace(rank);
    for (const auto& [rank, host] : hosts)
        add(sink, Which::processes,
            {rank, host.empty() ? Value() : Value(host), std::int64_t{traced.contains(rank)}});
    const auto names = thread_names(project);
    for (const TraceFile& trace : traces) {
        const auto name = names.find({trace.rank, trace.thread});
        add(sink, Which::threads,
            {trace.rank, trace.thread, name == names.end() ? Value() : Value(name->second)});
    }
}

void add_communicators(const Project& project, RowSink& sink)
{
    for (const Communicator& communicator : project.communicators) {
        const std::int64_t number = number_in(project.communicators, communicator);
        add(sink, Which::communicators, {number, communicator.name, communicator.uid, communicator.size()});
        for (const Communicator::Member& member : communicator.members)
            add(sink, Which::members,
                {number, member.global, member.local, optional(member.group), optional(member.cid)});
    }
}

void add_datatypes(const Project& project, RowSink& sink)
{
    std::set<std::pair<std::int64_t, std::int64_t>> known;
    for (const RankDatatypes& of_rank : project.datatypes)
        for (const Datatype& type : of_rank.types)
            if (known.insert({of_rank.rank, type.id}).second)
                add(sink, Which::datatypes,
                    {of_rank.rank, type.id, type.combiner, optional(type.attributes.value("name")),
                     optional(type.attributes.integer("size")), optional(type.attributes.integer("extent"))});
}

void add_objects(const Project& project, const NumberedTraces& traces, RowSink& sink)
{
    add_description(sink);
    add(sink, Which::run, {"name", project.name});
    add(sink, Which::run, {"processes", std::to_string(project.process_count)});
    add(sink, Which::run, {"description", project.description});
    add_processes(project, traces, sink);
    add_communicators(project, sink);
    for (const ProjectFile& file : project.files)
        add(sink, Which::files, {number_in(project.files, file), file.name, optional(file.initial_size)});
    for (const Window& window : project.windows)
        add(sink, Which::windows, {number_in(project.windows, window), window.name, window.uid});
    add_datatypes(project, sink);
    for (const CallSite& site : project.call_sites) {
        const SourceFunction* const function = site.function();
        const std::string stack = stack_text(site);
        add(sink, Which::sites,
            {number_in(project.call_sites, site), function ? Value(function->name) : Value(),
             function ? Value(function->file) : Value(), function ? optional(function->line) : Value(),
             stack});
    }
}

// --- what happens ---

/// The row of a call that is written when all is known that it moves.
class KeptCall {
  public:
    /// From now on it is this one; memory is used again.
    void keep(std::span<const Value> row, const Volume& moves)
    {
        volume = moves;
        m_values.assign(row.begin(), row.end());
        m_texts.clear();
        for (const Value& value : row)
            if (const auto* const text = std::get_if<std::string_view>(&value))
                m_texts += *text;
        std::string_view rest = m_texts;
        for (Value& value : m_values)
            if (auto* const text = std::get_if<std::string_view>(&value)) {
                const std::size_t size = text->size();
                *text = rest.substr(0, size);
                rest.remove_prefix(size);
            }
    }

    std::span<const Value> row()
    {
        static const std::size_t bytes = column("bytes");
        m_values[bytes] = volume.moved();
        m_values[bytes + 1] = volume.sent;
        m_values[bytes + 2] = volume.received;
        return m_values;
    }

    Volume volume;
    std::size_t open = 0; ///< operations that are not completed

  private:
    static std::size_t column(std::string_view name)
    {
        const auto& columns = tables()[static_cast<std::size_t>(Which::calls)].columns;
        return static_cast<std::size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin());
    }

    std::vector<Value> m_values;
    std::string m_texts; ///< what the values refer to
};

/// Visits the calls of all processes in the order of time.
class Rows : public EventVisitor {
  public:
    Rows(const Project& project, const ObjectTable& objects, RowSink& sink, Account& account)
        : m_project(project), m_objects(objects), m_sink(sink), m_account(account), m_volumes(objects)
    {
    }

    /// Whose paths calls have.
    void set_regions(const RegionPaths& regions) { m_regions = &regions; }

    void leave(const Call& call) override;
    void mark(const Call& event) override;
    void completed(const Call& call, const Completion& completion) override;

    void add_message(const Message& message);
    void add_collective(const Collective& collective);
    /// All calls were visited; @p requests are those of the walk.
    void finish(const RequestTable& requests);

  private:
    Value communicator_number(const Communicator* communicator) const
    {
        return number_of(m_project.communicators, communicator);
    }
    void add_call(const Call& call);
    void add_call_row(const Call& call, const Volume& volume, Row row);
    void add_when_known(KeptCall* call);

    const Project& m_project;
    const ObjectTable& m_objects;
    RowSink& m_sink;
    Account& m_account;
    Volumes m_volumes;
    Arrivals<KeptCall*> m_arrivals;
    std::deque<KeptCall> m_kept;     ///< they must not move
    std::vector<KeptCall*> m_unused; ///< of these
    const RegionPaths* m_regions = nullptr;
    std::string m_arguments; ///< of the call whose row is made
    std::int64_t m_messages = 0, m_collectives = 0;
};

void Rows::leave(const Call& call)
{
    add_call(call);
    if (!call.is_inside_call)
        m_account.exact();
}

void Rows::add_call(const Call& call)
{
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    const auto volume = m_volumes.of(call);
    const Volume moved = volume.value_or(Volume());
    const std::string region = m_regions->text(call.region);
    const bool is_region = call.own_region != RegionPaths::outside;
    set_arguments(m_arguments, state);
    add_call_row(call, moved,
                 {call.number,
                  rank,
                  call.trace.thread,
                  number_if_known(call.parent),
                  std::int64_t{call.depth},
                  std::int64_t{is_region},
                  state.name,
                  class_name(call.facts.call_class),
                  state.time,
                  state.end,
                  bytes_of(call, volume),
                  moved.sent,
                  moved.received,
                  optional(state.integer("toRank")),
                  optional(state.integer("toTag")),
                  optional(state.integer("fromRank")),
                  optional(state.integer("fromTag")),
                  optional(state.integer("rootRank")),
                  communicator_number(m_objects.communicator(rank, state)),
                  number_of(m_project.files, m_objects.file(rank, state)),
                  number_of(m_project.windows, m_objects.window(rank, state)),
                  optional(state.integer("offset")),
                  optional(state.integer("rid")),
                  optional(state.find("rc")),
                  std::int64_t{state.is_unfinished()},
                  number_of(m_project.call_sites, m_objects.call_site(rank, state)),
                  region.empty() ? Value() : Value(region),
                  state.line,
                  m_arguments});
}

// What is told later that it moves is added later.
void Rows::add_call_row(const Call& call, const Volume& volume, Row row)
{
    m_arrivals.complete(call, [this](KeptCall* started, const Volume& more) {
        started->volume += more;
        add_when_known(started);
    });
    if (volume.posted > 0) {
        if (m_unused.empty())
            m_unused.push_back(&m_kept.emplace_back());
        KeptCall* const kept = m_unused.back();
        kept->open = m_arrivals.add(call, kept);
        if (kept->open > 0) {
            m_unused.pop_back();
            return kept->keep(std::span(row.begin(), row.size()), volume);
        }
    }
    add(m_sink, Which::calls, row);
}

void Rows::add_when_known(KeptCall* call)
{
    if (--call->open > 0)
        return;
    m_sink.add(Which::calls, call->row());
    m_unused.push_back(call);
}

void Rows::mark(const Call& event)
{
    const State& state = event.state;
    const auto name = optional(state.find("name"));
    if (event_kind(state) == EventKind::count) {
        const double value = counter_value(state);
        add(m_sink, Which::counters,
            {event.trace.rank, event.trace.thread, state.time, name,
             std::isfinite(value) ? Value(value) : Value()});
    } else {
        add(m_sink, Which::marks,
            {event.trace.rank, event.trace.thread, state.time, name, optional(state.find("text"))});
    }
    m_account.exact();
}

void Rows::completed(const Call& call, const Completion& completion)
{
    if (completion.rid < 0)
        return;
    const Operation* const start = completion.operation; // null: it is not in the trace
    add(m_sink, Which::requests,
        {call.trace.rank, completion.rid, start ? Value(start->call->name) : Value(),
         start ? Value(start->number) : Value(), call.number, outcome_name(completion.outcome),
         start ? Value(start->time) : Value(), completion.end});
}

void Rows::add_message(const Message& message)
{
    const auto value = [](const std::optional<MessageEnd>& end, std::int64_t MessageEnd::*what) {
        return end ? Value((*end).*what) : Value();
    };
    const auto& [communicator, source, destination, tag, send, receive] = message;
    const std::optional<MessageEnd> got = receive && receive->is_complete ? receive : std::nullopt;
    const std::optional<MessageEnd> told = got && got->end_is_known ? got : std::nullopt;
    add(m_sink, Which::messages,
        {m_messages++, communicator_number(communicator), source, destination, tag,
         send ? number_if_known(send->number) : Value(), receive ? number_if_known(receive->number) : Value(),
         value(send, &MessageEnd::size), value(got, &MessageEnd::size), value(send, &MessageEnd::time),
         value(send, &MessageEnd::end), value(receive, &MessageEnd::time), value(told, &MessageEnd::end)});
}

void Rows::add_collective(const Collective& collective)
{
    if (collective.calls.empty())
        return;
    const std::int64_t number = m_collectives++;
    add(m_sink, Which::collectives,
        {number, communicator_number(collective.communicator), collective.number,
         collective.calls.front().name});
    for (const CollectiveCall& call : collective.calls)
        add(m_sink, Which::collective_calls, {number, call.number, call.rank});
}

void Rows::finish(const RequestTable& requests)
{
    m_arrivals.finish([this](KeptCall* call) { add_when_known(call); });
    for (const OperationPointer& pending : requests.pending())
        add(m_sink, Which::requests,
            {pending->rank,
             pending->rid,
             pending->call->name,
             pending->number,
             {},
             "pending",
             pending->time,
             {}});
}

} // namespace

void fill(const Project& project, RowSink& sink, Account& account)
{
    const ObjectTable objects(project);
    const NumberedTraces traces = numbered_traces(project);
    add_objects(project, traces, sink);
    MergedTraces calls(traces.traces, all_calls());
    Rows rows(project, objects, sink, account);
    MessageMatcher messages(objects, [&](const Message& message) { rows.add_message(message); });
    CollectiveMatcher collectives(objects,
                                  [&](const Collective& collective) { rows.add_collective(collective); });
    EventWalk walk({&rows, &messages, &collectives});
    rows.set_regions(walk.regions());
    walk.add_all(calls);
    messages.finish();
    collectives.finish();
    rows.finish(walk.requests());
}

} // namespace hdtrace::exporter::tables
