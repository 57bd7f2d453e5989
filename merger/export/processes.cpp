#include "merger/export/processes.h"

#include <algorithm>
#include <utility>

#include "hdtrace/matching/saturated.h"

namespace hdtrace::exporter {

NumberedTraces numbered_traces(const Project& project)
{
    NumberedTraces numbered{.traces = traces_of(project), .rank_count = project.process_count};
    std::vector<TraceFile>& traces = numbered.traces;
    const std::int64_t highest = traces.empty() ? 0 : traces.back().rank;
    if (highest < 0)
        numbered.rank_count = 0;
    numbered.first_other = std::max(numbered.rank_count, saturated_sum(highest, 1));
    std::int64_t next = numbered.first_other;
    for (TraceFile& trace : traces)
        if (trace.rank < 0)
            trace.rank = std::exchange(next, saturated_sum(next, 1));
    return numbered;
}

Selection all_calls()
{
    Selection all;
    all.unfinished = true;
    return all;
}

std::string process_name(const NumberedTraces& numbered, std::int64_t number,
                         const std::vector<std::string>& labels)
{
    if (number < numbered.first_other)
        return "Rank " + std::to_string(number);
    std::string all;
    for (const std::string& label : labels)
        all += (all.empty() ? "" : " ") + label;
    return "Process (" + all + ")";
}

std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names(const Project& project)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
    for (const RunProcess& process : project.run.processes)
        for (const RunThread& thread : process.threads)
            if (!thread.name.empty())
                names[{process.rank, thread.number}] = thread.name;
    return names;
}

} // namespace hdtrace::exporter
