// Archives of the Open Trace Format 2.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <otf2/OTF2_Pthread_Locks.h>
#include <otf2/otf2.h>

#include "hdtrace/format/for_each_position.h"
#include "merger/export/format.h"
#include "merger/export/otf2/errors.h"
#include "merger/export/otf2/markers.h"
#include "merger/export/otf2/process_definitions.h"
#include "merger/export/otf2/process_events.h"
#include "merger/export/output_directory.h"
#include "merger/export/processes.h"
#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

using otf2::check;
using otf2::Definitions;
using otf2::LocationDefinition;
using otf2::Markers;
using otf2::ProcessDefinitions;
using otf2::ProcessEvents;
using otf2::Turns;

namespace {

OTF2_FlushType flush_when_full(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

/// The events of one thread.
class Location {
  public:
    Location(OTF2_Archive* archive, OTF2_LocationRef ref)
        : m_archive(archive), m_writer(OTF2_Archive_GetEvtWriter(archive, ref))
    {
        if (m_writer == nullptr)
            throw ConvertError("the library of OTF2 cannot write");
    }
    Location(Location&& other) noexcept
        : m_archive(other.m_archive), m_writer(std::exchange(other.m_writer, nullptr))
    {
    }
    ~Location()
    {
        if (m_writer != nullptr)
            OTF2_Archive_CloseEvtWriter(m_archive, m_writer);
    }

    OTF2_EvtWriter* writer() const { return m_writer; }
    std::uint64_t event_count() const
    {
        uint64_t count = 0;
        check(OTF2_EvtWriter_GetNumberOfEvents(m_writer, &count));
        return count;
    }

  private:
    OTF2_Archive* m_archive;
    OTF2_EvtWriter* m_writer;
};

// --- the archive ---

class Archive {
  public:
    explicit Archive(const std::string& directory)
        : m_archive(OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE,
                                      OTF2_CHUNK_SIZE_EVENTS_DEFAULT, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                      OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE))
    {
        if (m_archive == nullptr)
            throw ConvertError("the library of OTF2 cannot make an archive in " + directory);
        static constexpr OTF2_FlushCallbacks flush = {flush_when_full, nullptr};
        check(OTF2_Archive_SetFlushCallbacks(m_archive, &flush, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(m_archive));
        check(OTF2_Pthread_Archive_SetLockingCallbacks(m_archive, nullptr));
        check(OTF2_Archive_SetCreator(m_archive, "hdtrace-convert"));
        check(OTF2_Archive_OpenEvtFiles(m_archive));
    }
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;
    ~Archive()
    {
        if (m_archive != nullptr)
            OTF2_Archive_Close(m_archive);
    }

    OTF2_Archive* get() const { return m_archive; }

    /// Readers want a file of local definitions for each location, also if it is empty.
    void close_events(std::size_t locations)
    {
        check(OTF2_Archive_CloseEvtFiles(m_archive));
        check(OTF2_Archive_OpenDefFiles(m_archive));
        detail::for_each_position(locations, [this](std::size_t i) {
            check(OTF2_Archive_CloseDefWriter(m_archive, OTF2_Archive_GetDefWriter(m_archive, i)));
        });
        check(OTF2_Archive_CloseDefFiles(m_archive));
    }

    void close() { check(OTF2_Archive_Close(std::exchange(m_archive, nullptr))); }

  private:
    OTF2_Archive* m_archive;
};

struct TimeSpan {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();

    void add(const TimeSpan& more)
    {
        begin = std::min(begin, more.begin);
        end = std::max(end, more.end);
    }
};

/// What is converted by itself.
struct Process {
    std::int64_t rank;
    std::string name;
    std::vector<TraceFile> traces;
    std::size_t first_location = 0; ///< the number of the first thread

    /// One without traces has one, since ranks are numbers of processes.
    std::size_t location_count() const { return std::max<std::size_t>(traces.size(), 1); }
};

std::vector<Process> processes_of(const Project& project)
{
    const NumberedTraces all = numbered_traces(project);
    std::map<std::int64_t, std::vector<TraceFile>> by_rank;
    for (std::int64_t rank = 0; rank < all.rank_count; ++rank)
        by_rank[rank] = {};
    for (const TraceFile& trace : all.traces)
        by_rank[trace.rank].push_back(trace);
    std::vector<Process> processes;
    std::size_t next_location = 0;
    for (auto& [rank, traces] : by_rank) {
        const std::vector<std::string> labels =
            traces.empty() ? std::vector<std::string>() : traces.front().labels;
        processes.push_back({rank, process_name(all, rank, labels), std::move(traces), next_location});
        next_location += processes.back().location_count();
    }
    return processes;
}

/// What became of a process.
struct WrittenProcess {
    std::vector<LocationDefinition> locations;
    TimeSpan span;
    Account account;
};

std::vector<LocationDefinition> locations_of(const Process& process)
{
    std::vector<LocationDefinition> definitions;
    for (const TraceFile& trace : process.traces)
        definitions.push_back(
            {process.rank, trace.thread, process.name, trace.labels.empty() ? "" : trace.labels[0], 0});
    if (process.traces.empty())
        definitions.push_back({process.rank, 0, process.name, "", 0});
    return definitions;
}

void write_process(OTF2_Archive* archive, const Process& process, ProcessEvents& events,
                   WrittenProcess& written)
{
    const auto& [rank, name, traces, first] = process;
    written.locations = locations_of(process);
    std::vector<Location> locations;
    std::map<std::int64_t, std::size_t> by_thread;
    for (std::size_t i = 0; i < written.locations.size(); ++i) {
        by_thread[written.locations[i].thread] = i;
        locations.emplace_back(archive, first + i);
    }
    EventWalk walk({&events});
    RankCalls calls(traces);
    while (const State* call = calls.next()) {
        const TraceFile& trace = calls.trace();
        const std::size_t place = by_thread.at(trace.thread);
        events.set_location(first + place, locations[place].writer());
        try {
            walk.add(trace, *call);
        } catch (const ConvertError& error) { // such as times that do not ascend
            throw ConvertError(trace.path + ":" + std::to_string(call->line) + ": " + error.what());
        }
        written.span.add({call->time, call->end});
    }
    for (std::size_t i = 0; i < locations.size(); ++i) {
        events.set_location(first + i, locations[i].writer());
        events.finish();
    }
    for (std::size_t i = 0; i < locations.size(); ++i)
        written.locations[i].events = locations[i].event_count();
}

/// Of all processes, those of several at a time.
std::vector<WrittenProcess> write_events(const Project& project, Archive& archive, Definitions& definitions)
{
    const ObjectTable objects(project);
    const otf2::ReceivedSizes sizes(traces_of(project), objects);
    const std::vector<Process> processes = processes_of(project);
    std::vector<WrittenProcess> written(processes.size());
    Markers markers(archive.get(), definitions);
    Turns turns(processes.size());
    detail::for_each_position(processes.size(), [&](std::size_t i) {
        try {
            ProcessDefinitions own_definitions(definitions, turns, i);
            ProcessEvents events(processes[i].rank, objects, sizes, own_definitions, markers,
                                 written[i].account);
            write_process(archive.get(), processes[i], events, written[i]);
        } catch (...) {
            turns.fail(i);
            throw;
        }
        turns.finish(i);
    });
    markers.close();
    return written;
}

void convert_to_otf2(const Project& project, const Options& options, Account& account)
{
    otf2::remember_first_error();
    Definitions definitions(project);
    OutputDirectory directory(options.output);
    Archive archive(directory.temporary_path());
    std::vector<LocationDefinition> locations;
    TimeSpan span;
    for (WrittenProcess& process : write_events(project, archive, definitions)) {
        std::ranges::move(process.locations, std::back_inserter(locations));
        span.add(process.span);
        account.add(process.account);
    }
    archive.close_events(locations.size());
    if (span.begin > span.end)
        span = {0, 0};
    definitions.write(OTF2_Archive_GetGlobalDefWriter(archive.get()), locations, span.begin, span.end);
    archive.close();
    otf2::check_whether_all_is_written(options.output);
    directory.commit();
}

} // namespace

Format otf2_format()
{
    return {"otf2",
            "a directory with an archive of the Open Trace Format 2: OUT/traces.otf2",
            convert_to_otf2,
            {}};
}

} // namespace hdtrace::exporter
