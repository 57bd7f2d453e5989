// Archives of the Open Trace Format 2.

#include <algorithm>
#include <cstdarg>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <otf2/otf2.h>

#include "merger/import/otf2/anchor.h"
#include "merger/import/otf2/definitions.h"
#include "merger/import/otf2/process_events.h"
#include "merger/import/source.h"

namespace fs = std::filesystem;

namespace hdtrace::importer {

using namespace otf2;

namespace {

OTF2_ErrorCode do_not_print(void*, const char*, uint64_t, const char*, OTF2_ErrorCode error, const char*,
                            va_list)
{
    return error;
}

/// The file that the library opens; of a directory the one in it. Empty if there is none.
std::string anchor_of(const std::string& path)
{
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
        return path.ends_with(".otf2") ? path : std::string();
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored))
        if (entry.path().extension() == ".otf2")
            return entry.path();
    return {};
}

bool recognises(const std::string& path, std::string_view)
{
    return !anchor_of(path).empty();
}

/// An archive that is being read.
class Archive {
  public:
    explicit Archive(const std::string& path) : m_reader(OTF2_Reader_Open(path.c_str()), OTF2_Reader_Close)
    {
        if (!m_reader)
            throw ImportError(path + ": the library of OTF2 cannot open this as an archive");
        check(OTF2_Reader_SetSerialCollectiveCallbacks(m_reader.get()), path);
    }
    OTF2_Reader* get() const { return m_reader.get(); }

    std::string creator() const
    {
        char* text = nullptr;
        if (OTF2_Reader_GetCreator(get(), &text) != OTF2_SUCCESS || text == nullptr)
            return {};
        const std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
        return text;
    }

  private:
    std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)> m_reader;
};

/// Reads what programs marked.
struct MarkerReader {
    const Definitions& definitions;
    exporter::Account& account;
    Markers markers = {};
    std::map<OTF2_MarkerRef, std::string> names = {};
    ExceptionKeeper keeper = {};

    void define(OTF2_MarkerRef self, const char* group, const char* category, OTF2_MarkerSeverity)
    {
        const std::string prefix = group;
        names[self] = prefix.empty() ? category : prefix + ":" + category;
    }
    void mark(OTF2_TimeStamp ticks, OTF2_TimeStamp, OTF2_MarkerRef ref, OTF2_MarkerScope scope,
              uint64_t place, const char* text)
    {
        const auto location = definitions.place_of_marker(scope, place);
        const auto name = names.find(ref);
        if (!location || name == names.end() || name->second.empty())
            return account.dropped("markers that are of no single thread, or not defined");
        markers[*location].push_back({ticks, name->second, text});
    }
};

Markers read_markers(const Archive& archive, const Definitions& definitions, const Import& import)
{
    MarkerReader target{definitions, import.account};
    OTF2_MarkerReader* const reader = OTF2_Reader_GetMarkerReader(archive.get());
    if (reader == nullptr) // it has no file of markers
        return {};
    const std::unique_ptr<OTF2_MarkerReaderCallbacks, decltype(&OTF2_MarkerReaderCallbacks_Delete)> set(
        OTF2_MarkerReaderCallbacks_New(), OTF2_MarkerReaderCallbacks_Delete);
    OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(set.get(),
                                                    definition<&MarkerReader::define, MarkerReader>);
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(set.get(), definition<&MarkerReader::mark, MarkerReader>);
    OTF2_Reader_RegisterMarkerCallbacks(archive.get(), reader, set.get(), &target);
    uint64_t count = 0;
    const OTF2_ErrorCode result = OTF2_Reader_ReadAllMarkers(archive.get(), reader, &count);
    target.keeper.rethrow();
    OTF2_Reader_CloseMarkerReader(archive.get(), reader);
    check(result, import.files.front() + ": its markers, after " + std::to_string(count));
    for (auto& [location, of_location] : target.markers)
        std::ranges::stable_sort(of_location, {}, &Marker::ticks);
    return std::move(target.markers);
}

/// Reads the events of locations, as often as they are needed.
class EventFiles {
  public:
    EventFiles(const Archive& archive, const Import& import, std::uint64_t all)
        : m_archive(archive), m_import(import), m_all(2 * all)
    {
        check(OTF2_Reader_OpenEvtFiles(archive.get()), import.files.front());
        m_has_definitions = OTF2_Reader_OpenDefFiles(archive.get()) == OTF2_SUCCESS;
    }

    template <class Target> void read(OTF2_LocationRef location, Target& target)
    {
        const std::string name = m_import.files.front() + ": location " + std::to_string(location);
        OTF2_EvtReader* const reader = OTF2_Reader_GetEvtReader(m_archive.get(), location);
        if (reader == nullptr)
            throw ImportError(name + ": its events cannot be read");
        const std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)> set(
            Target::callbacks(), OTF2_EvtReaderCallbacks_Delete);
        check(OTF2_Reader_RegisterEvtCallbacks(m_archive.get(), reader, set.get(), &target), name);
        check(OTF2_EvtReader_ApplyMappingTables(reader, true), name);
        check(OTF2_EvtReader_ApplyClockOffsets(reader, true), name);
        read_all(reader, target, name);
        check(OTF2_Reader_CloseEvtReader(m_archive.get(), reader), name);
    }

    /// Mapping of numbers and offsets of the clock: before the events.
    void read_definitions(OTF2_LocationRef location)
    {
        if (!m_has_definitions)
            return;
        OTF2_DefReader* const reader = OTF2_Reader_GetDefReader(m_archive.get(), location);
        if (reader == nullptr)
            return;
        uint64_t count = 0;
        check(OTF2_Reader_ReadAllLocalDefinitions(m_archive.get(), reader, &count),
              m_import.files.front() + ": the definitions of location " + std::to_string(location));
        OTF2_Reader_CloseDefReader(m_archive.get(), reader);
    }

  private:
    template <class Target> void read_all(OTF2_EvtReader* reader, Target& target, const std::string& name)
    {
        constexpr std::uint64_t at_once = 100'000;
        std::uint64_t done = 0;
        for (std::uint64_t count = at_once; count == at_once;) {
            const OTF2_ErrorCode result =
                OTF2_Reader_ReadLocalEvents(m_archive.get(), reader, at_once, &count);
            done += count;
            m_done += count;
            try {
                target.keeper.rethrow();
            } catch (const std::exception& error) {
                throw ImportError(name + ", event " + std::to_string(done + 1) + ": " + error.what());
            }
            check(result, name + ", after event " + std::to_string(done));
            m_import.progress("importing", m_done, m_all);
        }
    }

    const Archive& m_archive;
    const Import& m_import;
    std::uint64_t m_all;
    std::uint64_t m_done = 0;
    bool m_has_definitions = false;
};

void import_process(const Import& import, const Definitions& definitions, const Markers& markers,
                    std::int64_t rank, Writer writer, EventFiles& files)
{
    const Process& process = definitions.processes()[static_cast<std::size_t>(rank)];
    ProcessTrace trace(import.traces, {.rank = rank,
                                       .size = std::ssize(definitions.processes()),
                                       .host = process.host,
                                       .base = definitions.clock().base()});
    OutcomeReader outcomes;
    for (const OTF2_LocationRef location : process.threads) {
        files.read_definitions(location);
        outcomes.start(location);
        files.read(location, outcomes);
    }
    ProcessEvents events(definitions, import, markers, outcomes, writer, rank, trace);
    for (std::size_t thread = 0; thread < process.threads.size(); ++thread) {
        ThreadTrace of_thread(trace, static_cast<std::int64_t>(thread));
        events.start(process.threads[thread], of_thread);
        files.read(process.threads[thread], events);
        events.finish();
        of_thread.close();
    }
    trace.close();
}

void import_otf2(const Import& import)
{
    if (import.files.size() > 1)
        throw ImportError(import.files[1] + ": an archive is imported alone");
    const std::string anchor = anchor_of(import.files.front());
    if (anchor.empty())
        throw ImportError(import.files.front() + ": there is no file that ends with .otf2");
    OTF2_Error_RegisterCallback(do_not_print, nullptr);
    check_anchor(anchor);
    const Archive archive(anchor);
    const Definitions definitions(archive.get(), anchor);
    const std::string creator = archive.creator();
    const Writer writer = writer_of(creator, definitions.has_region(region_of_eztrace));
    import.traces.set_origin(
        "otf2", creator.empty() ? writer.name : creator,
        definitions.clock().knows_date() ? "" : "seconds after the beginning, whose date is not told",
        writer.lacks);
    for (const auto& [ref, location] : definitions.locations())
        check(OTF2_Reader_SelectLocation(archive.get(), ref), anchor);
    const Markers markers = read_markers(archive, definitions, import);
    EventFiles files(archive, import, definitions.all_events());
    for (std::int64_t rank = 0; rank < std::ssize(definitions.processes()); ++rank)
        import_process(import, definitions, markers, rank, writer, files);
    if (definitions.other_locations() > 0)
        import.account.note(std::to_string(definitions.other_locations()) +
                            " locations are no threads of MPI processes, such as accelerators: their " +
                            std::to_string(definitions.other_events()) + " events are left out");
}

} // namespace

Source otf2_source()
{
    return {"otf2",
            "archives of the Open Trace Format 2, of Score-P, EZTrace, TAU: traces.otf2",
            recognises,
            import_otf2,
            {}};
}

} // namespace hdtrace::importer
