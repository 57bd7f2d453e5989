#include "merger/export/tit/process_files.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/for_each_position.h"
#include "hdtrace/matching/beginnings.h"
#include "merger/export/rank_calls.h"
#include "merger/export/tit/message_counts.h"
#include "merger/export/tit/renumbering.h"

namespace hdtrace::exporter {
namespace {

/// In some process. Those of one thread are not read.
bool threads_overlap_in_any(const TracesByRank& traces)
{
    std::atomic<bool> found = false;
    detail::for_each_position(traces.size(), [&](std::size_t rank) {
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
    detail::for_each_position(traces.size(), [&](std::size_t rank) {
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

/// Messages are not matched before, for which all traces would have to be read in the order of time. False if
/// that has to be done: what was written is good for nothing then.
class HopefulConversion {
  public:
    HopefulConversion(const Replay& replay, const TracesByRank& traces, const OutputDirectory& directory,
                      RunSummary& summary)
        : m_replay(replay), m_traces(traces), m_directory(directory), m_summary(summary),
          m_counts(replay.objects)
    {
    }

    bool run()
    {
        detail::for_each_position(m_traces.size(), [this](std::size_t rank) {
            try {
                convert(rank);
            } catch (const OpenError&) { // the other way finds the first error by time
                m_is_given_up = true;
            } catch (const ReadError&) {
                m_is_given_up = true;
            }
        });
        return !m_is_given_up && m_counts.all_have_both_ends();
    }

  private:
    /// Most receives get what they have room for, so that few processes are read again.
    void convert(std::size_t rank)
    {
        Replay replay = m_replay;
        if (!m_is_given_up && !convert(rank, replay)) {
            replay.looks_up_receives = true;
            convert(rank, replay);
        }
    }

    /// False if sizes of receives are wrong.
    bool convert(std::size_t rank, const Replay& replay)
    {
        MessageCounts counts(replay.objects);
        bool has_other_size = false;
        ProcessSummary summary =
            convert_rank(replay, rank, m_traces[rank], m_directory, [&](ProcessReplay& process) {
                walk(rank, process, counts);
                has_other_size = process.has_other_size();
            });
        if (has_other_size)
            return false;
        add(rank, std::move(summary), counts);
        return true;
    }

    void add(std::size_t rank, ProcessSummary summary, MessageCounts& counts)
    {
        m_summary.add(rank, std::move(summary));
        counts.finish();
        const std::lock_guard lock(m_mutex);
        m_counts.add(counts);
        if (m_counts.is_doubtful())
            m_is_given_up = true;
    }

    void walk(std::size_t rank, ProcessReplay& process, MessageCounts& counts)
    {
        EventWalk walk({&process, &counts});
        RankCalls calls(m_traces[rank]);
        for (const State* call = calls.next(); call && !m_is_given_up && !process.has_other_size();
             call = calls.next()) {
            walk.add(calls.trace(), *call);
            if (counts.is_doubtful())
                m_is_given_up = true;
        }
    }

    const Replay& m_replay;
    const TracesByRank& m_traces;
    const OutputDirectory& m_directory;
    RunSummary& m_summary;
    std::atomic<bool> m_is_given_up = false;
    std::mutex m_mutex;
    MessageCounts m_counts; ///< of all processes
};

void renumber(const RunSummary& summary, const OutputDirectory& directory)
{
    const auto& processes = summary.with_other_tags();
    detail::for_each_position(processes.size(), [&](std::size_t i) {
        renumber_file(directory, name_of_file(processes[i].first), processes[i].second);
    });
}

bool have_single_threads(const TracesByRank& traces)
{
    return std::ranges::all_of(traces, [](const auto& of_rank) { return of_rank.size() <= 1; });
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
    const bool lacks_calls = Beginnings(replay.project).are_missing();
    if (lacks_calls || !have_single_threads(traces) ||
        !HopefulConversion(replay, traces, directory, *summary).run()) {
        summary = std::make_unique<RunSummary>();
        replay.looks_up_receives = true;
        replay.unmatched = find_unmatched_operations(replay.project, replay.objects);
        replay.threads_overlap = threads_overlap_in_any(traces);
        convert_ranks(replay, traces, directory, *summary);
    }
    renumber(*summary, directory);
    return summary;
}

} // namespace hdtrace::exporter
