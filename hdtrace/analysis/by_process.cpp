#include "hdtrace/analysis/by_process.h"

namespace hdtrace {

std::vector<ProcessTraces> traces_by_process(std::vector<TraceFile> traces, const Selection& selection)
{
    std::erase_if(traces, [&](const TraceFile& trace) { return !selection.wants(trace); });
    std::vector<ProcessTraces> processes;
    for (TraceFile& trace : traces) {
        if (processes.empty() || processes.back().back().rank != trace.rank)
            processes.emplace_back();
        processes.back().push_back(std::move(trace));
    }
    return processes;
}

} // namespace hdtrace
