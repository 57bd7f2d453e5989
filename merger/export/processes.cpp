#include "merger/export/processes.h"

namespace hdtrace::exporter {

std::vector<TraceFile> numbered_traces(const Project& project)
{
    std::vector<TraceFile> traces = traces_of(project);
    std::int64_t next = project.process_count;
    for (TraceFile& trace : traces)
        if (trace.rank < 0)
            trace.rank = next++;
    return traces;
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
