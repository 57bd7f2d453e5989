#include "hdtrace/analysis/opened_project.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/sums.h"

namespace hdtrace {
namespace {

template <class Object> std::vector<std::string> labels_of(const std::vector<Object>& objects)
{
    std::vector<std::string> names;
    for (const Object& object : objects)
        names.push_back(object.name);
    return unique_labels(names);
}

bool has_states(const TraceFile& trace)
{
    Selection all;
    all.unfinished = true;
    State state;
    return TraceStream(trace, all).next(state);
}

bool exists(const TraceFile& trace)
{
    return detail::is_there_in_some_form(trace.path);
}

} // namespace

std::vector<std::string> unique_labels(const std::vector<std::string>& names)
{
    std::unordered_map<std::string, int> uses;
    for (const std::string& name : names)
        ++uses[name];
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string number = "#" + std::to_string(i);
        if (names[i].empty())
            labels.push_back(number);
        else
            labels.push_back(uses[names[i]] == 1 ? names[i] : names[i] + " " + number);
    }
    return labels;
}

Selection without_names(Selection selection)
{
    selection.calls.clear();
    selection.classes.clear();
    return selection;
}

Selection with_completions(Selection selection)
{
    selection.threads.clear();
    return without_names(std::move(selection));
}

Selection with_regions(const Project& project, Selection selection)
{
    const auto is_region = [](const RunFact& fact) { return fact.fact.name == "Region"; };
    selection.events = true;
    if (std::ranges::any_of(project.run.facts, is_region))
        selection.interval.begin = TimeInterval().begin;
    return selection;
}

bool is_all(TimeInterval interval)
{
    const TimeInterval all;
    return interval.begin == all.begin && interval.end == all.end;
}

TimeInterval inside_part(const Project& project, TimeInterval interval)
{
    const TimeInterval part = part_in(project);
    return {std::max(interval.begin, part.begin), std::min(interval.end, part.end)};
}

Selection with_prepared(const Project& project, Selection selection)
{
    const auto prepares = [](const RunFact& fact) {
        return fact.fact.name == "Calls" &&
               facts_of(fact.fact.text("name")).progress == CallProgress::prepares;
    };
    if (!is_told_by_all(project.run, "Calls", project.process_count) ||
        std::ranges::any_of(project.run.facts, prepares))
        selection.interval.begin = TimeInterval().begin;
    return selection;
}

OpenedProject::OpenedProject(Project opened)
    : project(std::move(opened)), objects(project), traces(traces_of(project)),
      communicator_labels(labels_of(project.communicators)), file_labels(labels_of(project.files)),
      window_labels(labels_of(project.windows))
{
    for (const TraceFile& trace : traces)
        m_paths.try_emplace({trace.rank, trace.thread}, trace.path);
}

std::vector<TraceFile> OpenedProject::existing_traces() const
{
    std::vector<TraceFile> existing = traces_with_calls();
    if (existing.size() < traces.size())
        std::ranges::for_each(traces, check_has_calls);
    return existing;
}

std::vector<TraceFile> OpenedProject::traces_with_calls() const
{
    std::vector<TraceFile> existing;
    std::ranges::copy_if(traces, std::back_inserter(existing), exists);
    return existing;
}

std::vector<TraceFile> OpenedProject::traces_with_sums() const
{
    std::vector<TraceFile> summed;
    std::ranges::copy_if(traces, std::back_inserter(summed),
                         [](const TraceFile& trace) { return has_only_sums(trace.path); });
    return summed;
}

std::vector<TraceFile> OpenedProject::missing_traces() const
{
    std::vector<TraceFile> missing;
    std::ranges::copy_if(traces, std::back_inserter(missing),
                         [](const TraceFile& trace) { return !exists(trace) && !has_only_sums(trace.path); });
    return missing;
}

std::set<std::int64_t> OpenedProject::ranks_without_traces() const
{
    std::set<std::int64_t> ranks;
    for (const TraceFile& trace : missing_traces())
        ranks.insert(trace.rank);
    for (const TraceFile& trace : traces_with_calls())
        ranks.erase(trace.rank);
    return ranks;
}

// A process tells of a thread when this makes its first call, but for those of older tracers.
std::set<std::int64_t> OpenedProject::ranks_without_calls() const
{
    std::set<std::int64_t> ranks;
    for (const RunProcess& process : project.run.processes)
        if (process.threads.empty() && process.signals.empty())
            ranks.insert(process.rank);
    for (const TraceFile& trace : traces_with_calls())
        if (ranks.contains(trace.rank) && has_states(trace))
            ranks.erase(trace.rank);
    ranks.merge(ranks_without_traces());
    return ranks;
}

std::set<std::int64_t> OpenedProject::ranks_with_threads() const
{
    std::unordered_map<std::int64_t, std::int64_t> threads;
    std::set<std::int64_t> ranks;
    for (const TraceFile& trace : traces)
        if (threads.try_emplace(trace.rank, trace.thread).first->second != trace.thread)
            ranks.insert(trace.rank);
    return ranks;
}

const std::string& OpenedProject::path_of(std::int64_t rank, std::int64_t thread) const
{
    const auto found = m_paths.find({rank, thread});
    return found == m_paths.end() ? project.path : found->second;
}

const std::string& OpenedProject::label_of(const Communicator& communicator) const
{
    return communicator_labels[position_in(project.communicators, communicator)];
}

} // namespace hdtrace
