#include "hdtrace/format/traces.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "hdtrace/format/nanoseconds.h"

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

std::optional<std::int64_t> time_in(const Element& fact, std::string_view name)
{
    const auto text = fact.find(name);
    return text ? parse_time(*text) : std::nullopt;
}

} // namespace

std::vector<TraceFile> traces_of(const Project& project)
{
    std::vector<TraceFile> traces;
    const std::vector<std::string> paths = project.trace_paths();
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::vector<std::string>& labels = project.leaves[i];
        const std::int64_t rank = number_at(project, "Rank", labels, -1);
        traces.push_back(
            {paths[i], rank, number_at(project, "Thread", labels, 0), labels,
             project.worlds.empty() ? nullptr : std::make_shared<const ProjectRanks>(project, rank)});
    }
    std::ranges::stable_sort(traces, {},
                             [](const TraceFile& trace) { return std::pair(trace.rank, trace.thread); });
    return traces;
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
    : m_trace(std::move(trace)), m_selection(std::move(selection)), m_reader(m_trace.path, options)
{
    m_reader.seek(m_selection.interval.begin);
    m_at_end = !m_selection.wants(m_trace);
}

bool TraceStream::next(State& state)
{
    while (!m_at_end && m_reader.next(state)) {
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
