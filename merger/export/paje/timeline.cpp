#include "merger/export/paje/timeline.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>

#include "hdtrace/matching/regions.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace::exporter::paje {
namespace {

constexpr std::string_view definitions = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeDefineLinkType 3
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 4
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 5
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 7
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 8
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSetVariable 9
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeAddVariable 10
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeStartLink 11
% Time date
% Type string
% Container string
% Value string
% StartContainer string
% Key string
%EndEventDef
%EventDef PajeEndLink 12
% Time date
% Type string
% Container string
% Value string
% EndContainer string
% Key string
%EndEventDef
0 RUN 0 Run
0 HOST RUN Host
0 PROCESS HOST Process
0 THREAD PROCESS Thread
1 CALL THREAD Call
2 BYTES PROCESS "Bytes moved" "0.2 0.4 0.8"
3 MESSAGE RUN THREAD THREAD Message
)";

constexpr std::string_view create = "5", destroy = "6", push_state = "7", pop_state = "8", set_variable = "9",
                           add_variable = "10", start_link = "11", end_link = "12";

/// Of the states of a class.
std::string_view colour_of(std::string_view group)
{
    static const std::map<std::string_view, std::string_view> colours = {
        {"region", "0.75 0.75 0.75"},      {"point-to-point", "0.2 0.6 0.9"}, {"completion", "0.9 0.3 0.2"},
        {"collective", "0.95 0.65 0.1"},   {"one-sided", "0.5 0.3 0.8"},      {"file", "0.2 0.7 0.3"},
        {"communicator", "0.4 0.75 0.75"}, {"process", "0.6 0.5 0.4"},
    };
    const auto found = colours.find(group);
    return found == colours.end() ? "0.55 0.55 0.6" : found->second;
}

bool is_region(const Call& call)
{
    return call.own_region != RegionPaths::outside;
}

std::string process_alias(std::int64_t rank)
{
    return "p" + std::to_string(rank);
}

std::string thread_alias(std::int64_t rank, std::int64_t thread)
{
    return "t" + std::to_string(rank) + "_" + std::to_string(thread);
}

} // namespace

std::string name_of(std::string_view text)
{
    std::string name(text);
    for (char& c : name)
        if (c == '"')
            c = '\'';
        else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
            c = ' ';
    return name.empty() ? "-" : name;
}

void Timeline::begin(const Project& project, const NumberedTraces& numbered, std::int64_t origin)
{
    m_origin = m_last = origin;
    m_output.text(definitions);
    const auto make = [&](std::string_view type, const std::string& alias, const std::string& around,
                          const std::string& name) {
        write(create, m_origin,
              alias + " " + std::string(type) + " " + around + " \"" + name_of(name) + "\"");
        m_containers.push_back(std::string(type) + " " + alias);
    };
    make("RUN", "run", "0", project.name);
    std::map<std::string, std::string> hosts;
    std::set<std::int64_t> processes;
    for (const TraceFile& trace : numbered.traces) {
        const std::string name = process_name(numbered, trace.rank, trace.labels);
        const std::string host = trace.labels.empty() ? "" : trace.labels[0];
        const auto [alias, is_new] = hosts.try_emplace(host, "h" + std::to_string(hosts.size()));
        if (is_new)
            make("HOST", alias->second, "run", host);
        if (processes.insert(trace.rank).second) {
            make("PROCESS", process_alias(trace.rank), alias->second, name);
            write(set_variable, m_origin, "BYTES " + process_alias(trace.rank) + " 0");
        }
        make("THREAD", thread_alias(trace.rank, trace.thread), process_alias(trace.rank),
             name + " thread " + std::to_string(trace.thread));
    }
}

void Timeline::enter(const Call& call)
{
    if (call.nesting == 0)
        write_before(call.state.time);
    Thread& thread = thread_of(call.trace);
    const std::int64_t value = value_of(call);
    thread.open.push_back(value);
    push(thread, value, call.state.time);
}

void Timeline::leave(const Call& call)
{
    Thread& thread = thread_of(call.trace);
    const Values& values = values_like(call);
    const auto value = values.find(call.state.name);
    if (value == values.end() || !leave(thread, value->second, call.state.end))
        return m_account.dropped("ends of regions that the trace does not have the beginnings of");
    const std::int64_t bytes = moved_bytes(call);
    if (bytes > 0 && !call.is_inside_call && !call.state.is_unfinished())
        tell(What::bytes, call.state.end, thread, bytes);
    if (!call.is_inside_call)
        m_account.exact();
}

/// What does not wait for its bytes does not count them; what completes it does.
std::int64_t Timeline::moved_bytes(const Call& call)
{
    const auto volume = m_volumes.of(call);
    std::int64_t bytes = bytes_of(call, volume);
    m_arrivals.complete(
        call, [&](std::monostate, const Volume& more) { bytes = saturated_sum(bytes, more.moved()); });
    if (volume && volume->posted > 0)
        m_arrivals.add(call, {});
    return bytes;
}

/// States nest in Paje: those that overlap are left with it, and entered again. False if it was not entered.
bool Timeline::leave(Thread& thread, std::int64_t value, std::int64_t time)
{
    std::vector<std::int64_t>& open = thread.open;
    const auto found = std::ranges::find(open.rbegin(), open.rend(), value);
    if (found == open.rend())
        return false;
    const auto inner = found.base();
    for (auto left = open.end(); left >= inner; --left)
        pop(thread, time);
    for (auto again = inner; again != open.end(); ++again)
        push(thread, *again, time);
    open.erase(std::prev(inner));
    return true;
}

void Timeline::mark(const Call& event)
{
    m_account.dropped(event_kind(event.state) == EventKind::count ? "values of counters of the program's own"
                                                                  : "marks");
}

Timeline::Thread& Timeline::thread_of(const TraceFile& trace)
{
    const ThreadId id(trace.rank, trace.thread);
    const auto [place, is_new] = m_threads.try_emplace(id);
    if (is_new)
        place->second.id = id;
    return place->second;
}

void Timeline::push(Thread& thread, std::int64_t value, std::int64_t time)
{
    thread.last = std::max(thread.last, time); // damaged traces may go back in time
    tell(What::push, thread.last, thread, value);
}

/// What is left before it was entered is refused.
void Timeline::pop(Thread& thread, std::int64_t time)
{
    thread.last = std::max(thread.last, time);
    tell(What::pop, thread.last, thread);
}

Timeline::Values& Timeline::values_like(const Call& call)
{
    return is_region(call) ? m_values_of_regions : m_values_of_calls;
}

/// Defined before it is used: what waits is written later.
std::int64_t Timeline::value_of(const Call& call)
{
    Values& values = values_like(call);
    const std::string& name = call.state.name;
    if (const auto known = values.find(name); known != values.end())
        return known->second;
    const auto number = static_cast<std::int64_t>(m_values_of_calls.size() + m_values_of_regions.size() + 1);
    values.emplace(name, number);
    m_output.text("4 v").number(number).text(" CALL \"").text(name_of(name)).text("\" \"");
    m_output.text(colour_of(is_region(call) ? "region" : class_name(call.facts.call_class))).text("\"\n");
    return number;
}

void Timeline::tell(What what, std::int64_t time, const Thread& thread, std::int64_t value)
{
    m_waiting.push({std::max(time, m_last), m_events++, &thread, value, what});
}

TextOutput& Timeline::begin_line(std::string_view code, std::int64_t time)
{
    m_last = std::max(m_last, time);
    return m_output.text(code).text(" ").seconds(saturated_difference(m_last, m_origin)).text(" ");
}

void Timeline::write(std::string_view code, std::int64_t time, std::string_view text)
{
    begin_line(code, time).text(text).text("\n");
}

void Timeline::write(const Event& event)
{
    const auto& [rank, thread] = event.thread->id;
    switch (event.what) {
    case What::push:
        begin_line(push_state, event.time).text("CALL t").number(rank).text("_").number(thread);
        m_output.text(" v").number(event.value);
        break;
    case What::pop:
        begin_line(pop_state, event.time).text("CALL t").number(rank).text("_").number(thread);
        break;
    case What::bytes:
        begin_line(add_variable, event.time).text("BYTES p").number(rank).text(" ").number(event.value);
        break;
    }
    m_output.text("\n");
}

void Timeline::write_links_until(std::int64_t time)
{
    while (const auto end = m_links.next_until(time)) {
        begin_line(end->is_end ? end_link : start_link, end->time);
        m_output.text("MESSAGE run ").number(end->bytes).text(" t").number(end->rank).text("_");
        m_output.number(end->thread).text(" m").number(end->number).text("\n");
    }
}

void Timeline::write_before(std::int64_t time)
{
    while (!m_waiting.empty() && m_waiting.top().time < time) {
        write_links_until(m_waiting.top().time);
        write(m_waiting.top());
        m_waiting.pop();
    }
}

void Timeline::finish()
{
    for (const auto& [id, thread] : m_threads)
        for (std::size_t i = 0; i < thread.open.size(); ++i)
            tell(What::pop, thread.last, thread);
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    write_before(end);
    write_links_until(end);
    for (const std::string& container : m_containers | std::views::reverse)
        write(destroy, m_last, container);
    m_output.flush();
}

} // namespace hdtrace::exporter::paje
