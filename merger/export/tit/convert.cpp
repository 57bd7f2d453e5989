// SimGrid's time-independent traces: what each process does, for its replay on another machine.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/oversubscription.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/speed.h"
#include "merger/export/tit/process_files.h"

namespace hdtrace::exporter {

namespace {

const Communicator* find_world(const Project& project)
{
    const auto found = std::ranges::find(project.communicators, "WORLD", &Communicator::name);
    return found == project.communicators.end() ? nullptr : &*found;
}

/// The traces of each process.
TracesByRank traces_by_rank(const Project& project)
{
    TracesByRank by_rank(static_cast<std::size_t>(project.process_count));
    for (TraceFile& trace : traces_of(project)) {
        if (trace.rank < 0 || trace.rank >= project.process_count)
            throw ConvertError("a replay needs the traces of MPI processes; " + trace.path + " is of none");
        by_rank[static_cast<std::size_t>(trace.rank)].push_back(std::move(trace));
    }
    return by_rank;
}

void check_place(const OutputDirectory& directory)
{
    if (directory.path().string().find('\n') != std::string::npos)
        throw ConvertError("replay.txt has a name in each line: neither OUT nor a folder that it is in may "
                           "have a line break in its name");
}

void write_list(const OutputDirectory& directory, std::size_t processes)
{
    DirectoryFile list(directory, "replay.txt");
    for (std::size_t rank = 0; rank < processes; ++rank)
        list.write((directory.path() / name_of_file(rank)).string() + "\n");
    list.close();
}

/// A replay has one world.
void note_worlds(const Project& project, Account& account)
{
    if (!project.worlds.empty())
        account.note("the processes of all " + std::to_string(project.worlds.size()) +
                     " worlds begin at the same time: those that were spawned do not wait for it");
}

/// What the traced processor computes, in floating-point operations per second.
double traced_speed(const Options& options)
{
    constexpr double usual = 1e9;
    const std::string given = options.text("speed");
    return given.empty() ? usual : speed_of(given);
}

void convert_to_tit(const Project& project, const Options& options, Account& account)
{
    const TracesByRank traces = traces_by_rank(project);
    const ObjectTable objects(project);
    const Replay replay{
        .project = project, .objects = objects, .world = find_world(project), .speed = traced_speed(options)};
    OutputDirectory directory(options.output);
    check_place(directory);
    const auto summary = write_process_files(replay, traces, directory);
    write_list(directory, traces.size());
    account.add(summary->account());
    if (summary->is_incomplete())
        account.note(
            "not all processes took part in all collective operations: the replay will stop at the first "
            "of these");
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
