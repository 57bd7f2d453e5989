#include "merger/export/paje/timeline.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>

#include "hdtrace/matching/regions.h"
#include "hdtrace/matching/saturated.h"
#include "merger/export/processes.h"

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

void Timeline::begin(const Project& project, const std::vector<TraceFile>& traces, std::int64_t origin)
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
    for (const TraceFile& trace : traces) {
        const std::string host = trace.labels.empty() ? "" : trace.labels[0];
        const auto [alias, is_new] = hosts.try_emplace(host, "h" + std::to_string(hosts.size()));
        if (is_new)
            make("HOST", alias->second, "run", host);
        if (processes.insert(trace.rank).second) {
            make("PROCESS", process_alias(trace.rank), alias->second, "Rank " + std::to_string(trace.rank));
            write(set_variable, m_origin, "BYTES " + process_alias(trace.rank) + " 0");
        }
        make("THREAD", thread_alias(trace.rank, trace.thread), process_alias(trace.rank),
             "Rank " + std::to_string(trace.rank) + " thread " + std::to_string(trace.thread));
    }
}

void Timeline::enter(const Call& call)
{
    if (call.nesting == 0)
        write_before(call.state.time);
    const bool is_region = call.own_region != RegionPaths::outside;
    const ThreadId thread = {call.trace.rank, call.trace.thread};
    const Open open = {is_region, call.state.name, is_region ? "region" : class_name(call.facts.call_class)};
    m_threads[thread].open.push_back(open);
    push(thread, open, call.state.time);
}

void Timeline::leave(const Call& call)
{
    const bool is_region = call.own_region != RegionPaths::outside;
    if (!leave({call.trace.rank, call.trace.thread}, is_region, call.state.name, call.state.end))
        return m_account.dropped("ends of regions that the trace does not have the beginnings of");
    const std::int64_t bytes = moved_bytes(call);
    if (bytes > 0 && !call.is_inside_call && !call.state.is_unfinished())
        tell(add_variable, call.state.end,
             "BYTES " + process_alias(call.trace.rank) + " " + std::to_string(bytes));
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
bool Timeline::leave(const ThreadId& thread, bool is_region, const std::string& name, std::int64_t time)
{
    std::vector<Open>& open = m_threads[thread].open;
    const auto found = std::ranges::find_if(open.rbegin(), open.rend(), [&](const Open& candidate) {
        return candidate.is_region == is_region && candidate.name == name;
    });
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

/// Damaged traces may go back in time, and what is left before it was entered is refused.
std::int64_t Timeline::not_before_last(const ThreadId& thread, std::int64_t time)
{
    std::int64_t& last = m_threads.at(thread).last;
    return last = std::max(last, time);
}

void Timeline::push(const ThreadId& thread, const Open& open, std::int64_t time)
{
    tell(push_state, not_before_last(thread, time),
         "CALL " + thread_alias(thread.first, thread.second) + " " + value_of(open));
}

void Timeline::pop(const ThreadId& thread, std::int64_t time)
{
    tell(pop_state, not_before_last(thread, time), "CALL " + thread_alias(thread.first, thread.second));
}

/// Defined before it is used: what waits is written later.
const std::string& Timeline::value_of(const Open& open)
{
    const auto [place, is_new] = m_values.try_emplace((open.is_region ? "r" : "c") + open.name);
    if (is_new) {
        place->second = "v" + std::to_string(m_values.size());
        m_output.text("4 ").text(place->second).text(" CALL \"").text(name_of(open.name)).text("\" \"");
        m_output.text(colour_of(open.group)).text("\"\n");
    }
    return place->second;
}

void Timeline::tell(std::string_view code, std::int64_t time, std::string text)
{
    m_waiting.push({std::max(time, m_last), m_events++, std::move(text), code});
}

void Timeline::write(std::string_view code, std::int64_t time, std::string_view text)
{
    m_last = std::max(m_last, time);
    m_output.text(code)
        .text(" ")
        .seconds(saturated_difference(m_last, m_origin))
        .text(" ")
        .text(text)
        .text("\n");
}

void Timeline::write_links_until(std::int64_t time)
{
    while (const auto end = m_links.next_until(time)) {
        const std::string bytes = std::to_string(end->bytes);
        write(end->is_end ? end_link : start_link, end->time,
              "MESSAGE run " + bytes + " " + thread_alias(end->rank, end->thread) + " m" +
                  std::to_string(end->number));
    }
}

void Timeline::write_before(std::int64_t time)
{
    while (!m_waiting.empty() && m_waiting.top().time < time) {
        write_links_until(m_waiting.top().time);
        write(m_waiting.top().code, m_waiting.top().time, m_waiting.top().text);
        m_waiting.pop();
    }
}

void Timeline::finish()
{
    for (const auto& [id, thread] : m_threads)
        for (std::size_t i = 0; i < thread.open.size(); ++i)
            tell(pop_state, thread.last, "CALL " + thread_alias(id.first, id.second));
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    write_before(end);
    write_links_until(end);
    for (const std::string& container : m_containers | std::views::reverse)
        write(destroy, m_last, container);
    m_output.flush();
}

} // namespace hdtrace::exporter::paje
