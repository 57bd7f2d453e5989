// SimGrid's time-independent traces: what each process does, for its replay on another machine.

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <glib.h>

#include "hdtrace/format/oversubscription.h"
#include "hdtrace/tools/option_parser.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/rank_calls.h"
#include "merger/export/tit/process_replay.h"

namespace hdtrace::exporter {

namespace {

const Communicator* find_world(const Project& project)
{
    const auto found = std::ranges::find(project.communicators, "WORLD", &Communicator::name);
    return found == project.communicators.end() ? nullptr : &*found;
}

/// The traces of each process.
std::vector<std::vector<TraceFile>> traces_by_rank(const Project& project)
{
    std::vector<std::vector<TraceFile>> by_rank(static_cast<std::size_t>(project.process_count));
    for (TraceFile& trace : traces_of(project)) {
        if (trace.rank < 0 || trace.rank >= project.process_count)
            throw ConvertError("a replay needs the traces of MPI processes; " + trace.path + " is of none");
        by_rank[static_cast<std::size_t>(trace.rank)].push_back(std::move(trace));
    }
    return by_rank;
}

void convert_rank(Replay& replay, std::int64_t rank, const std::vector<TraceFile>& traces, TextOutput& output)
{
    ProcessReplay process(replay, rank, find_received(traces), output);
    EventWalk walk({&process});
    RankCalls calls(traces);
    if (replay.threads_overlap)
        calls.walk_moments(walk);
    else
        calls.walk(walk);
    process.finish();
}

/// What is left of a run in which not all processes came to the end.
void note_what_stops_the_replay(const Replay& replay)
{
    if (replay.collectives.size() > 1 || replay.balance.is_unequal())
        replay.account.note(
            "not all processes took part in all collective operations: the replay will stop at the first "
            "of these");
}

/// A replay has one world.
void note_worlds(const Project& project, Account& account)
{
    if (!project.worlds.empty())
        account.note("the processes of all " + std::to_string(project.worlds.size()) +
                     " worlds begin at the same time: those that were spawned do not wait for it");
}

/// What the traced processor computes, in floating-point operations per second.
double speed_of(const std::string& text)
{
    constexpr double usual = 1e9;
    if (text.empty())
        return usual;
    char* end = nullptr;
    const double speed = g_ascii_strtod(text.c_str(), &end);
    if (*end != '\0' || !std::isfinite(speed) || speed <= 0)
        throw tools::UsageError("--speed is a number of operations per second such as 2.5e9, not '" + text +
                                "'");
    return speed;
}

void convert_to_tit(const Project& project, const Options& options, Account& account)
{
    const std::vector<std::vector<TraceFile>> traces = traces_by_rank(project);
    const ObjectTable objects(project);
    Replay replay{.project = project,
                  .objects = objects,
                  .tags = ReplayTags(find_world(project)),
                  .unmatched = find_unmatched_operations(project, objects),
                  .threads_overlap = std::ranges::any_of(traces, threads_overlap),
                  .speed = speed_of(options.text("speed")),
                  .account = account};
    OutputDirectory directory(options.output);
    DirectoryFile list(directory, "replay.txt");
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        const std::string name = "rank-" + std::to_string(rank) + ".txt";
        DirectoryFile file(directory, name);
        TextOutput output([&](std::string_view text) { file.write(text); });
        convert_rank(replay, static_cast<std::int64_t>(rank), traces[rank], output);
        output.flush();
        file.close();
        list.write((directory.path() / name).string() + "\n");
    }
    list.close();
    note_what_stops_the_replay(replay);
    note_worlds(project, account);
    account.note(
        "how long messages take is in the platform file: hdtrace calibrate writes one for this machine");
    for (const OversubscribedHost& host : oversubscribed_hosts(project))
        account.note("computation holds the time without a processor, too: " + host.text());
    directory.commit();
}

} // namespace

Format tit_format()
{
    return {"tit",
            "a directory for SimGrid: smpirun -np N -platform PLATFORM -replay OUT/replay.txt",
            convert_to_tit,
            {{"speed", "FLOPS", "operations per second of the processor that was traced (default 1e9)"}}};
}

} // namespace hdtrace::exporter
