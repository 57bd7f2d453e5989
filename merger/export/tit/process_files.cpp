#include "merger/export/tit/process_files.h"

#include <atomic>
#include <functional>

#include "merger/export/for_each_rank.h"
#include "merger/export/rank_calls.h"
#include "merger/export/tit/renumbering.h"

namespace hdtrace::exporter {
namespace {

/// In some process. Those of one thread are not read.
bool threads_overlap_in_any(const TracesByRank& traces)
{
    std::atomic<bool> found = false;
    for_each_rank(traces.size(), [&](std::size_t rank) {
        if (!found && threads_overlap(traces[rank]))
            found = true;
    });
    return found;
}

/// Writes the file of a process, to which @p walk gives its calls.
ProcessSummary convert_rank(const Replay& replay, std::size_t rank, const std::vector<TraceFile>& traces,
                            const OutputDirectory& directory,
                            const std::function<void(ProcessReplay& process)>& walk)
{
    DirectoryFile file(directory, name_of_file(rank));
    TextOutput output([&](std::string_view text) { file.write(text); });
    ProcessSummary summary(replay.world);
    ProcessReplay process(replay, static_cast<std::int64_t>(rank), traces, output, summary);
    walk(process);
    process.finish();
    output.flush();
    file.close();
    return summary;
}

void convert_ranks(const Replay& replay, const TracesByRank& traces, const OutputDirectory& directory,
                   RunSummary& summary)
{
    for_each_rank(traces.size(), [&](std::size_t rank) {
        summary.add(rank, convert_rank(replay, rank, traces[rank], directory, [&](ProcessReplay& process) {
                        EventWalk walk({&process});
                        RankCalls calls(traces[rank]);
                        if (replay.threads_overlap)
                            calls.walk_moments(walk);
                        else
                            calls.walk(walk);
                    }));
    });
}

void renumber(const RunSummary& summary, const OutputDirectory& directory)
{
    const auto& processes = summary.with_other_tags();
    for_each_rank(processes.size(), [&](std::size_t i) {
        renumber_file(directory, name_of_file(processes[i].first), processes[i].second);
    });
}

} // namespace

std::string name_of_file(std::size_t rank)
{
    return "rank-" + std::to_string(rank) + ".txt";
}

std::unique_ptr<RunSummary> write_process_files(Replay replay, const TracesByRank& traces,
                                                const OutputDirectory& directory)
{
    auto summary = std::make_unique<RunSummary>();
    replay.unmatched = find_unmatched_operations(replay.project, replay.objects);
    replay.threads_overlap = threads_overlap_in_any(traces);
    convert_ranks(replay, traces, directory, *summary);
    renumber(*summary, directory);
    return summary;
}

} // namespace hdtrace::exporter
