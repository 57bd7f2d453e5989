// Binary files of DUMPI, one for each process, and the metafile that names them.

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <glib.h>

#include "hdtrace/format/for_each_position.h"
#include "merger/export/dumpi/process_records.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/processes.h"
#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

using namespace dumpi;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// The processes of one MPI_COMM_WORLD, whose files are a trace of their own.
struct WorldFiles {
    std::int64_t first = 0; ///< rank in the project
    std::int64_t size = 0;
    std::string prefix = {};
    std::int64_t start = 0; ///< seconds since the epoch
    std::string host = {};
    std::string user = {};
};

std::vector<std::vector<TraceFile>> traces_by_rank(const Project& project, Account& account)
{
    std::vector<std::vector<TraceFile>> by_rank(static_cast<std::size_t>(project.process_count));
    bool has_others = false;
    for (TraceFile& trace : traces_of(project)) {
        if (trace.rank < 0 || trace.rank >= project.process_count)
            has_others = true;
        else
            by_rank[static_cast<std::size_t>(trace.rank)].push_back(std::move(trace));
    }
    if (has_others)
        account.note("traces that are not of processes of MPI are left out: DUMPI has no place for them");
    return by_rank;
}

/// When the first call of a process began, in nanoseconds since the epoch; nothing if there is none.
std::optional<std::int64_t> beginning_of(const std::vector<TraceFile>& traces)
{
    std::optional<std::int64_t> first;
    for (const TraceFile& trace : traces) {
        TraceStream stream(trace, all_calls());
        if (State state; stream.next(state))
            first = std::min(first.value_or(state.time), state.time);
    }
    return first;
}

/// What the run tells of a process; null if it tells nothing.
const Element* find_fact(const Project& project, std::string_view kind, std::int64_t rank)
{
    for (const RunFact& fact : project.run.facts)
        if (fact.fact.name == kind && fact.holds_for(rank))
            return &fact.fact;
    return nullptr;
}

std::string fact_text(const Project& project, std::string_view kind, const AttributeName& attribute,
                      std::int64_t rank)
{
    const Element* fact = find_fact(project, kind, rank);
    return fact == nullptr ? std::string() : fact->text(attribute);
}

/// What is told of the first process of a world holds for all of it.
std::string fact_of_world(const Project& project, std::string_view kind, const AttributeName& attribute,
                          const WorldFiles& world)
{
    return fact_text(project, kind, attribute, world.first);
}

std::vector<std::string> arguments_of(const Project& project, std::int64_t rank)
{
    const std::string line = fact_text(project, "Command", "line", rank);
    gint count = 0;
    gchar** words = nullptr;
    if (!g_shell_parse_argv(line.c_str(), &count, &words, nullptr))
        return {};
    std::vector<std::string> arguments(words, words + count);
    g_strfreev(words);
    return arguments;
}

/// How often functions were called and not recorded.
CallCounts ignored_calls(const Project& project, std::int64_t rank)
{
    CallCounts ignored{};
    for (const RunFact& fact : project.run.facts) {
        if (fact.fact.name != "Calls" || !fact.holds_for(rank))
            continue;
        if (const auto* function = hdtrace::dumpi::find_function(fact.fact.text("name")))
            ignored.at(function->label) += static_cast<std::uint64_t>(
                std::max<std::int64_t>(0, fact.fact.integer("ignored").value_or(0)));
    }
    return ignored;
}

/// As ranks of the project, in the form that traces have.
std::string group_of_world(const WorldFiles& world)
{
    constexpr std::int64_t most_listed = 256; // more are written as a range
    if (world.size > most_listed)
        return std::to_string(world.first) + ".." + std::to_string(world.first + world.size - 1) + ";";
    std::string group;
    for (std::int64_t i = 0; i < world.size; ++i)
        group += std::to_string(world.first + i) + ";";
    return group;
}

std::string number_of_rank(std::int64_t rank)
{
    const std::string digits = std::to_string(rank);
    return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

/// As DUMPI names its files; in universal time, so that they have the same names everywhere.
std::string prefix_of(std::int64_t start, std::size_t world)
{
    const auto time = static_cast<std::time_t>(start);
    std::tm parts{};
    char text[64] = "";
    if (gmtime_r(&time, &parts) != nullptr)
        std::strftime(text, sizeof text, "%Y.%m.%d.%H.%M.%S", &parts);
    return std::string("dumpi-") + text + (world == 0 ? "" : "-world" + std::to_string(world + 1));
}

std::vector<WorldFiles> worlds_of(const Project& project, const std::vector<std::vector<TraceFile>>& traces)
{
    std::vector<WorldFiles> worlds;
    for (const World& world : project.worlds) {
        if (world.first < 0 || world.size < 0 || world.size > project.process_count ||
            world.first > project.process_count - world.size)
            throw ConvertError("the project has a world with processes that it does not have: " + world.uid);
        worlds.push_back({.first = world.first, .size = world.size});
    }
    if (worlds.empty())
        worlds.push_back({.first = 0, .size = project.process_count});
    for (std::size_t i = 0; i < worlds.size(); ++i) {
        WorldFiles& world = worlds[i];
        std::int64_t start = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t rank = world.first; rank < world.first + world.size; ++rank) {
            const auto& of_process = traces.at(static_cast<std::size_t>(rank));
            if (world.host.empty() && !of_process.empty() && !of_process[0].labels.empty())
                world.host = of_process[0].labels[0];
            start = std::min(start, beginning_of(of_process).value_or(start));
        }
        world.start = start == std::numeric_limits<std::int64_t>::max() ? 0 : start / second;
        world.user = fact_of_world(project, "User", "name", world);
        world.prefix = prefix_of(world.start, i);
    }
    return worlds;
}

std::string or_none(const std::string& text)
{
    return text.empty() ? "<none>" : text;
}

void write_metafile(const OutputDirectory& directory, const WorldFiles& world)
{
    std::string text;
    const auto line = [&](std::string_view key, const std::string& value) {
        std::string told = value;
        std::ranges::replace_if(
            told, [](unsigned char c) { return c < ' ' || c == '='; }, '-');
        text.append(key).append("=").append(told).append("\n");
    };
    line("hostname", or_none(world.host));
    line("numprocs", std::to_string(world.size));
    line("username", or_none(world.user));
    line("startime", std::to_string(world.start)); // spelt so
    line("fileprefix", world.prefix);
    line("version", std::to_string(hdtrace::dumpi::version[0]));
    line("subversion", std::to_string(hdtrace::dumpi::version[1]));
    line("subsubversion", std::to_string(hdtrace::dumpi::version[2]));
    DirectoryFile file(directory, world.prefix + ".meta");
    file.write(text);
    file.close();
}

std::vector<std::pair<std::string, std::string>> note_of(const Project& project, std::int64_t rank)
{
    const Element* note = find_fact(project, "Note", rank);
    if (note == nullptr)
        return {};
    return {{note->text("key"), note->text("value")}};
}

void write_process(const Project& project, const Communicators& communicators, const ObjectTable& objects,
                   const WorldFiles& world, std::int64_t rank, const std::vector<TraceFile>& traces,
                   const BinFile::Sink& sink, Account& account)
{
    const std::string library = fact_of_world(project, "Library", "version", world);
    Process process{.objects = objects,
                    .communicators = communicators,
                    .rank = rank,
                    .native = hdtrace::dumpi::NativeConstants::of(library),
                    .argv = arguments_of(project, rank),
                    .numbers = ObjectNumbers(objects, rank, group_of_world(world))};
    BinFile file(sink, beginning_of(traces).value_or(world.start * second) / second);
    ProcessRecords records(process, file, account);
    EventWalk walk({&records});
    RankCalls(traces).walk(walk);
    file.finish(
        {.start = world.start,
         .host = or_none(traces.empty() || traces[0].labels.empty() ? world.host : traces[0].labels[0]),
         .user = or_none(world.user),
         .ignored = ignored_calls(project, rank),
         .notes = note_of(project, world.first),
         .datatype_sizes = process.numbers.datatype_sizes()});
}

/// The files of all processes of a world, on all cores.
void write_processes(const Project& project, const Communicators& communicators, const ObjectTable& objects,
                     const WorldFiles& world, const std::vector<std::vector<TraceFile>>& traces,
                     const OutputDirectory& directory, Account& account)
{
    std::vector<Account> accounts(static_cast<std::size_t>(world.size));
    detail::for_each_position(accounts.size(), [&](std::size_t i) {
        const std::int64_t rank = world.first + static_cast<std::int64_t>(i);
        DirectoryFile file(directory,
                           world.prefix + "-" + number_of_rank(static_cast<std::int64_t>(i)) + ".bin");
        write_process(
            project, communicators, objects, world, rank, traces[static_cast<std::size_t>(rank)],
            [&](std::string_view bytes) { file.write(bytes); }, accounts[i]);
        file.close();
    });
    for (const Account& of_process : accounts)
        account.add(of_process);
}

void convert_to_dumpi(const Project& project, const Options& options, Account& account)
{
    OutputDirectory directory(options.output);
    const ObjectTable objects(project);
    const Communicators communicators(project);
    const std::vector<std::vector<TraceFile>> traces = traces_by_rank(project, account);
    const std::vector<WorldFiles> worlds = worlds_of(project, traces);
    for (const WorldFiles& world : worlds) {
        write_processes(project, communicators, objects, world, traces, directory, account);
        write_metafile(directory, world);
    }
    if (worlds.size() > 1)
        account.note("each MPI_COMM_WORLD is a trace of its own, with a metafile");
    directory.commit();
}

} // namespace

Format dumpi_format()
{
    return {"dumpi",
            "a directory with the binary files of DUMPI and their metafile: OUT/dumpi-TIME.meta",
            convert_to_dumpi,
            {}};
}

} // namespace hdtrace::exporter
