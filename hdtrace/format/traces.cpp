#include "hdtrace/format/traces.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/sums.h"

namespace hdtrace {
namespace {

template <class Item, class Value> bool is_all_or_holds(const std::vector<Item>& items, const Value& value)
{
    return items.empty() || std::ranges::find(items, value) != items.end();
}

std::int64_t number_or(const std::string& label, std::int64_t otherwise)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    return error == std::errc() && end == label.data() + label.size() ? number : otherwise;
}

// The number that a trace has at one of the project's levels.
std::int64_t number_at(const Project& project, std::string_view level, const std::vector<std::string>& labels,
                       std::int64_t otherwise)
{
    const auto found = std::ranges::find(project.levels, level);
    const std::size_t position = found - project.levels.begin();
    return position < labels.size() && found != project.levels.end() ? number_or(labels[position], otherwise)
                                                                     : otherwise;
}

/// By host, of those that differ.
std::map<std::string, std::shared_ptr<const HostClock>> clocks_of(const Project& project)
{
    std::map<std::string, std::shared_ptr<const HostClock>> clocks;
    for (const HostClock& clock : project.clocks)
        if (!clock.is_right())
            clocks.try_emplace(clock.host, std::make_shared<const HostClock>(clock));
    return clocks;
}

std::optional<std::int64_t> time_in(const Element& fact, std::string_view name)
{
    const auto text = fact.find(name);
    return text ? parse_time(*text) : std::nullopt;
}

/// Each reader gets about as many traces, which follow each other.
void share_out(std::vector<TraceFile>& traces, const std::vector<std::shared_ptr<RemoteReader>>& readers)
{
    for (std::size_t i = 0; i < traces.size() && !readers.empty(); ++i)
        traces[i].reader = readers[i * readers.size() / traces.size()];
}

/// By rank: the times that those in their traces count from.
std::unordered_map<std::int64_t, std::int64_t> begins_of(const Project& project)
{
    std::unordered_map<std::int64_t, std::int64_t> begins;
    for (const RunProcess& process : project.run.processes)
        begins.emplace(process.rank, process.began);
    return begins;
}

struct NodeFileOfRanks {
    std::int64_t last = 0;
    std::int64_t size = 0;
};

/// By the first of the ranks: how large their node files were.
std::map<std::int64_t, NodeFileOfRanks> node_files_of(const Project& project)
{
    std::map<std::int64_t, NodeFileOfRanks> node_files;
    for (const RunFact& fact : project.run.facts)
        if (fact.fact.name == "NodeFile")
            for (const RunFact::Ranks& ranks : fact.ranks)
                node_files[ranks.first] = {ranks.last, fact.fact.integer("size").value_or(0)};
    return node_files;
}

std::int64_t node_file_size_of(const std::map<std::int64_t, NodeFileOfRanks>& node_files, std::int64_t rank)
{
    const auto behind = node_files.upper_bound(rank);
    return behind != node_files.begin() && rank <= std::prev(behind)->second.last
               ? std::prev(behind)->second.size
               : 0;
}

void check_number(const TraceFile& trace, const TrcReader& reader, const char* name, std::int64_t expected)
{
    const auto found = reader.attributes().integer(name);
    if (found && *found != expected)
        throw ReadError(trace.path, 1, 0,
                        std::string("this is the trace of ") + name + " " + std::to_string(*found) +
                            ", but stands where the project has that of " + name + " " +
                            std::to_string(expected));
}

/// A file of that name may have come from elsewhere.
void check_owner(const TraceFile& trace, const TrcReader& reader)
{
    if (trace.rank >= 0) {
        if (!trace.ranks) // else the trace has the number in the process's own world
            check_number(trace, reader, "rank", trace.rank);
        check_number(trace, reader, "thread", trace.thread);
    }
    const std::int64_t began = reader.time_adjustment(); // 0: nobody knew it, and there are no times
    if (trace.began && began != 0 && began != *trace.began)
        throw ReadError(trace.path, 1, 0,
                        "this trace is of another run than the project: its times count from second " +
                            std::to_string(began / nanoseconds_per_second) + ", not " +
                            std::to_string(*trace.began / nanoseconds_per_second));
}

// Of one that is not there, there may be sums.
TrcReader open_trace(const TraceFile& trace, ReadOptions options)
{
    try {
        options.node_file_size = trace.node_file_size;
        TrcReader reader(trace.path, options);
        check_owner(trace, reader);
        return reader;
    } catch (const OpenError&) {
        check_has_calls(trace);
        throw;
    }
}

} // namespace

std::vector<TraceFile> traces_of(const Project& project)
{
    std::vector<TraceFile> traces;
    const auto clocks = clocks_of(project);
    const auto begins = begins_of(project);
    const auto node_files = node_files_of(project);
    const std::vector<std::string> paths = project.trace_paths();
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::vector<std::string>& labels = project.leaves[i];
        const std::int64_t rank = number_at(project, "Rank", labels, -1);
        const auto clock = clocks.empty() ? clocks.end() : clocks.find(host_of(project, labels));
        traces.push_back(
            {paths[i], rank, number_at(project, "Thread", labels, 0), labels,
             project.worlds.empty() ? nullptr : std::make_shared<const ProjectRanks>(project, rank),
             clock == clocks.end() ? nullptr : clock->second});
        if (const auto began = begins.find(rank); began != begins.end())
            traces.back().began = began->second;
        traces.back().node_file_size = node_file_size_of(node_files, rank);
    }
    std::ranges::stable_sort(traces, {},
                             [](const TraceFile& trace) { return std::pair(trace.rank, trace.thread); });
    share_out(traces, project.readers);
    return traces;
}

std::string host_of(const Project& project, const std::vector<std::string>& labels)
{
    const auto level =
        static_cast<std::size_t>(std::ranges::find(project.levels, "Hostname") - project.levels.begin());
    return level < std::min(labels.size(), project.levels.size()) ? labels[level] : std::string();
}

std::int64_t recorded_begin(const TraceFile& trace, TimeInterval interval)
{
    return trace.clock && interval.begin != TimeInterval().begin ? trace.clock->recorded(interval.begin)
                                                                 : interval.begin;
}

TimeInterval part_in(const Project& project)
{
    TimeInterval part;
    for (const RunFact& fact : project.run.facts) {
        if (fact.fact.name != "Part")
            continue;
        part.begin = std::max(part.begin, time_in(fact.fact, "begin").value_or(part.begin));
        part.end = std::min(part.end, time_in(fact.fact, "end").value_or(part.end));
    }
    return part;
}

const FatalSignal* latest_signal(const Project& project)
{
    const FatalSignal* latest = nullptr;
    for (const RunProcess& process : project.run.processes)
        for (const FatalSignal& signal : process.signals)
            if (!latest || signal.time > latest->time)
                latest = &signal;
    return latest && latest->time <= part_in(project).end ? latest : nullptr;
}

bool Selection::wants(const TraceFile& trace) const
{
    return is_all_or_holds(ranks, trace.rank) && is_all_or_holds(threads, trace.thread);
}

bool Selection::wants(const State& state) const
{
    if (state.end < interval.begin || state.time > interval.end || (!unfinished && state.is_unfinished()))
        return false;
    if ((calls.empty() && classes.empty()) || (events && state.is_event))
        return true;
    return std::ranges::find(calls, state.name) != calls.end() ||
           (!classes.empty() && std::ranges::find(classes, class_of(state.name)) != classes.end());
}

TraceStream::TraceStream(TraceFile trace, Selection selection, const ReadOptions& options)
    : m_trace(std::move(trace)), m_selection(std::move(selection)), m_reader(open_trace(m_trace, options))
{
    if (m_trace.clock)
        m_correction.emplace(m_trace.clock);
    m_reader.seek(recorded_begin(m_trace, m_selection.interval));
    m_at_end = !m_selection.wants(m_trace);
}

bool TraceStream::next(State& state)
{
    while (!m_at_end && m_reader.next(state)) {
        if (m_correction)
            m_correction->correct(state);
        m_at_end = state.time > m_selection.interval.end;
        if (!m_selection.wants(state))
            continue;
        if (m_trace.ranks)
            m_trace.ranks->translate(state);
        return true;
    }
    return false;
}

} // namespace hdtrace
