// Archives of the Open Trace Format 2.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <otf2/otf2.h>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/requests.h"
#include "merger/export/collectives.h"
#include "merger/export/format.h"
#include "merger/export/otf2/definitions.h"
#include "merger/export/otf2/windows.h"
#include "merger/export/output_directory.h"
#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

using otf2::check;
using otf2::Definitions;
using otf2::LocationDefinition;
using otf2::offset_attribute;
using otf2::Recorded;
using otf2::WindowEvents;

namespace {

OTF2_ErrorCode do_not_print(void*, const char*, uint64_t, const char*, OTF2_ErrorCode error, const char*,
                            va_list)
{
    return error;
}

OTF2_FlushType flush_when_full(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

// --- events ---

struct CollectiveOperation {
    std::string_view kind;
    OTF2_CollectiveOp operation;
};

constexpr CollectiveOperation collective_operations[] = {
    {"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
    {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
    {"Gather", OTF2_COLLECTIVE_OP_GATHER},
    {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
    {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
    {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
    {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
    {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
    {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"Scan", OTF2_COLLECTIVE_OP_SCAN},
    {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
};

/// What an event tells about a collective operation.
struct Collective {
    OTF2_CollectiveOp operation;
    OTF2_CommRef communicator;
    uint32_t root;
    uint64_t sent;
    uint64_t received;
};

struct Access {
    OTF2_IoHandleRef file;
    uint64_t size;
    uint64_t id;
};

uint64_t sum(const std::vector<Volume>& volumes)
{
    uint64_t bytes = 0;
    for (const Volume& volume : volumes)
        bytes += static_cast<uint64_t>(volume.size);
    return bytes;
}

uint64_t unsigned_value(const Element& element, std::string_view name)
{
    return static_cast<uint64_t>(std::max<std::int64_t>(0, element.integer(name).value_or(0)));
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

constexpr std::int64_t any = -1;    // source or tag
constexpr std::int64_t nobody = -2; // MPI_PROC_NULL

constexpr std::string_view partitioned = "starts of partitioned operations: as of one message";
constexpr std::string_view assumed_locks =
    "locks of windows: held from the return of the call that asks for them";
constexpr std::string_view other_world =
    "messages and operations whose communicator or partner is not described: as regions only";

/// The events of one process.
class ProcessEvents {
  public:
    ProcessEvents(std::int64_t rank, const ObjectTable& objects, Definitions& definitions, Account& account)
        : m_rank(rank), m_objects(objects), m_definitions(definitions), m_account(account),
          m_windows(rank, objects, definitions)
    {
    }

    /// Takes all calls of the process in the order in which they ended.
    void add(const TraceFile& trace, const State& call, OTF2_EvtWriter* writer)
    {
        m_writer = writer;
        if (call.is_event)
            return m_account.dropped("events that the program marked");
        const OTF2_RegionRef region = m_definitions.region(call.name);
        check(OTF2_EvtWriter_Enter(writer, nullptr, time(call), region));
        m_what = {};
        const Progress& progress = m_requests.add(trace, call);
        const bool has_failed = call.find("rc") != nullptr;
        std::optional<Collective> collective = has_failed ? std::nullopt : begin(call, progress);
        add_nested(call);
        for (const Completion& completion : progress.completed)
            complete(completion, end(call));
        if (!has_failed)
            finish(call, progress, collective);
        check(OTF2_EvtWriter_Leave(writer, nullptr, end(call), region));
        if (m_what.empty())
            m_account.exact();
        else
            m_account.approximated(m_what);
    }

  private:
    static OTF2_TimeStamp time(const State& call) { return static_cast<OTF2_TimeStamp>(call.time); }
    static OTF2_TimeStamp end(const State& call) { return static_cast<OTF2_TimeStamp>(call.end); }

    void add_nested(const State& call)
    {
        for (const State& nested : call.nested) {
            if (nested.is_event)
                continue;
            const OTF2_RegionRef region = m_definitions.region(nested.name);
            check(OTF2_EvtWriter_Enter(m_writer, nullptr, time(nested), region));
            add_nested(nested);
            check(OTF2_EvtWriter_Leave(m_writer, nullptr, end(nested), region));
        }
    }

    // --- what stands behind Enter ---

    std::optional<Collective> begin(const State& call, const Progress& progress)
    {
        const CallClass of_class = class_of(call.name);
        for (const OperationPointer& operation : progress.started)
            start(*operation, call);
        if (!progress.started.empty())
            return std::nullopt;
        if (call.name == "Send" || call.name == "Ssend" || call.name == "Bsend" || call.name == "Rsend" ||
            call.name.starts_with("Sendrecv"))
            send(call, time(call), std::nullopt);
        if (of_class == CallClass::file)
            begin_access(call, false);
        if (of_class == CallClass::one_sided)
            tell(m_windows.begin(call, m_writer));
        const std::string kind = of_class == CallClass::collective ? collective_kind(call.name) : "";
        if (kind.empty() || call.name.ends_with("_init"))
            return std::nullopt;
        std::optional<Collective> collective = describe(call, kind, &call.children);
        if (collective)
            check(OTF2_EvtWriter_MpiCollectiveBegin(m_writer, nullptr, time(call)));
        return collective;
    }

    /// The request of the send of an operation that receives as well: in OTF2 each message has its own.
    static uint64_t of_send(uint64_t rid) { return rid | uint64_t{1} << 63; }

    void tell(Recorded recorded)
    {
        if (recorded == Recorded::nothing)
            m_what = other_world;
        else if (recorded == Recorded::with_assumed_lock)
            m_what = assumed_locks;
    }

    void start(const Operation& operation, const State& call)
    {
        const Element& what = operation.call;
        const auto rid = static_cast<uint64_t>(operation.rid);
        if (what.name.starts_with("Isendrecv"))
            send(what, time(call), of_send(rid));
        if (what.name.starts_with("P"))
            m_what = partitioned;
        if (class_of(what.name) == CallClass::one_sided) {
            tell(m_windows.start(operation, m_writer));
        } else if (what.name == "Irecv" || what.name == "Imrecv" || what.name.ends_with("recv_init") ||
                   what.name == "Recv_init" || what.name.starts_with("Isendrecv")) {
            if (what.integer("fromRank") != nobody)
                check(OTF2_EvtWriter_MpiIrecvRequest(m_writer, nullptr, time(call), rid));
        } else if (what.name == "Isend" || what.name == "Issend" || what.name == "Ibsend" ||
                   what.name == "Irsend" || what.name.ends_with("end_init")) {
            send(what, time(call), rid);
        } else if (what.name.starts_with("File_")) {
            begin_access(call, true);
        } else if (const std::string kind = collective_kind(what.name); !kind.empty()) {
            const auto collective = describe(what, kind, what.name == call.name ? &call.children : nullptr);
            if (!collective)
                return;
            check(OTF2_EvtWriter_NonBlockingCollectiveRequest(m_writer, nullptr, time(call), rid));
            m_collectives[operation.rid] = *collective;
        }
    }

    void send(const Element& what, OTF2_TimeStamp when, std::optional<uint64_t> request)
    {
        const Communicator* communicator = m_objects.communicator(m_rank, what);
        const std::int64_t to = what.integer("toRank").value_or(nobody);
        const std::optional<uint32_t> receiver = m_definitions.local_rank(communicator, to);
        if (!receiver) {
            if (to != nobody)
                m_what = other_world;
            return;
        }
        const auto tag = static_cast<uint32_t>(what.integer("toTag").value_or(0));
        const uint64_t size = unsigned_value(what, what.find("sendSize") ? "sendSize" : "size");
        const OTF2_CommRef comm = m_definitions.communicator(communicator);
        if (!request) {
            check(OTF2_EvtWriter_MpiSend(m_writer, nullptr, when, *receiver, comm, tag, size));
            return;
        }
        check(OTF2_EvtWriter_MpiIsend(m_writer, nullptr, when, *receiver, comm, tag, size, *request));
        m_sends.insert(*request);
    }

    std::optional<Collective> describe(const Element& call, const std::string& kind,
                                       const std::vector<Element>* children)
    {
        const auto operation = std::ranges::find(collective_operations, kind, &CollectiveOperation::kind);
        const Communicator* communicator = m_objects.communicator(m_rank, call);
        const std::optional<Members> members = members_of(communicator, m_rank);
        const std::optional<Exchange> messages =
            members ? direct_messages({kind, call, children}, *members) : std::nullopt;
        if (operation == std::end(collective_operations) || !messages) {
            m_what = other_world;
            return std::nullopt;
        }
        const auto root = m_definitions.local_rank(communicator, call.integer("rootRank").value_or(-1));
        return Collective{operation->operation, m_definitions.communicator(communicator),
                          root.value_or(OTF2_UNDEFINED_UINT32), sum(messages->sends),
                          sum(messages->receives)};
    }

    // --- files ---

    static bool is_collective(std::string_view name)
    {
        return name.find("_all") != std::string_view::npos || name.find("_ordered") != std::string_view::npos;
    }

    void begin_access(const State& call, bool is_non_blocking)
    {
        const ProjectFile* file = m_objects.file(m_rank, call);
        const bool is_write = call.name.find("write") != std::string::npos;
        const bool is_read = call.name.find("read") != std::string::npos;
        if (file == nullptr || !(is_write || is_read || call.name == "File_sync"))
            return;
        const OTF2_IoOperationMode mode = is_write  ? OTF2_IO_OPERATION_MODE_WRITE
                                          : is_read ? OTF2_IO_OPERATION_MODE_READ
                                                    : OTF2_IO_OPERATION_MODE_FLUSH;
        const OTF2_IoOperationFlag flags =
            (is_collective(call.name) ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : OTF2_IO_OPERATION_FLAG_NONE) |
            (is_non_blocking ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : OTF2_IO_OPERATION_FLAG_NONE);
        const Access access = {m_definitions.file(file), unsigned_value(call, "size"), m_next_access++};
        const std::unique_ptr<OTF2_AttributeList, decltype(&OTF2_AttributeList_Delete)> attributes(
            OTF2_AttributeList_New(), OTF2_AttributeList_Delete);
        if (call.integer("offset"))
            check(OTF2_AttributeList_AddUint64(attributes.get(), offset_attribute,
                                               unsigned_value(call, "offset")));
        check(OTF2_EvtWriter_IoOperationBegin(m_writer, attributes.get(), time(call), access.file, mode,
                                              flags, access.size, access.id));
        if (is_non_blocking)
            m_accesses[call.integer("rid").value_or(-1)] = access;
        else
            m_access = access;
    }

    void finish_file_call(const State& call)
    {
        if (m_access) {
            complete_access(*m_access, call, end(call));
            m_access.reset();
            return;
        }
        const ProjectFile* file = m_objects.file(m_rank, call);
        if (file != nullptr && call.name == "File_open")
            check(OTF2_EvtWriter_IoCreateHandle(m_writer, nullptr, end(call), m_definitions.file(file),
                                                access_mode(call), OTF2_IO_CREATION_FLAG_NONE,
                                                OTF2_IO_STATUS_FLAG_NONE));
        else if (file != nullptr && call.name == "File_close")
            check(OTF2_EvtWriter_IoDestroyHandle(m_writer, nullptr, end(call), m_definitions.file(file)));
    }

    static OTF2_IoAccessMode access_mode(const Element& call)
    {
        const std::string* amode = call.find("amode");
        if (amode != nullptr && amode->find("RDONLY") != std::string::npos)
            return OTF2_IO_ACCESS_MODE_READ_ONLY;
        if (amode != nullptr && amode->find("WRONLY") != std::string::npos)
            return OTF2_IO_ACCESS_MODE_WRITE_ONLY;
        return OTF2_IO_ACCESS_MODE_READ_WRITE;
    }

    // --- what stands before Leave ---

    void finish(const State& call, const Progress& progress, const std::optional<Collective>& collective)
    {
        if (call.name == "Recv" || call.name == "Mrecv" || call.name.starts_with("Sendrecv"))
            receive(call, call, end(call), std::nullopt);
        if (collective)
            check(OTF2_EvtWriter_MpiCollectiveEnd(m_writer, nullptr, end(call), collective->operation,
                                                  collective->communicator, collective->root,
                                                  collective->sent, collective->received));
        for (const OperationPointer& operation : progress.started) {
            if (const auto found = m_accesses.find(operation->rid); found != m_accesses.end())
                check(OTF2_EvtWriter_IoOperationIssued(m_writer, nullptr, end(call), found->second.file,
                                                       found->second.id));
        }
        if (progress.started.empty() && call.name.starts_with("File_"))
            finish_file_call(call);
        if (progress.started.empty() && class_of(call.name) == CallClass::one_sided)
            m_windows.finish(call, m_writer);
    }

    /// What arrived is told where anything was welcome. MPICH tells nonsense of MPI_Isendrecv.
    static std::int64_t asked_or_got(const Element& posted, const Element& got, std::string_view name)
    {
        const std::int64_t asked = posted.integer(name).value_or(any);
        return asked != any ? asked : got.integer(name).value_or(any);
    }

    static uint64_t received_size(const Element& element)
    {
        return unsigned_value(element, element.find("recvSize") ? "recvSize" : "size");
    }

    /// @p posted names the communicator, @p got what has arrived.
    void receive(const Element& posted, const Element& got, OTF2_TimeStamp when,
                 std::optional<uint64_t> request)
    {
        const Communicator* communicator = m_objects.communicator(m_rank, posted);
        const std::int64_t from = asked_or_got(posted, got, "fromRank");
        const std::optional<uint32_t> sender = m_definitions.local_rank(communicator, from);
        if (!sender) {
            if (from != nobody)
                m_what = other_world;
            return;
        }
        const auto tag = static_cast<uint32_t>(asked_or_got(posted, got, "fromTag"));
        const uint64_t size = std::min(received_size(posted), received_size(got.find("size") ? got : posted));
        const OTF2_CommRef comm = m_definitions.communicator(communicator);
        if (request)
            check(OTF2_EvtWriter_MpiIrecv(m_writer, nullptr, when, *sender, comm, tag, size, *request));
        else
            check(OTF2_EvtWriter_MpiRecv(m_writer, nullptr, when, *sender, comm, tag, size));
    }

    void complete(const Completion& completion, OTF2_TimeStamp when)
    {
        const auto rid = static_cast<uint64_t>(completion.rid);
        if (m_sends.erase(of_send(rid)) > 0)
            check(OTF2_EvtWriter_MpiIsendComplete(m_writer, nullptr, when, of_send(rid)));
        const bool is_send = m_sends.erase(rid) > 0;
        if (m_windows.complete(completion, m_writer))
            return;
        if (auto access = m_accesses.extract(completion.rid))
            complete_access(access.mapped(), *completion.what, when);
        else if (auto collective = m_collectives.extract(completion.rid))
            complete_collective(collective.mapped(), when, rid);
        else if (completion.outcome == Outcome::cancelled)
            check(OTF2_EvtWriter_MpiRequestCancelled(m_writer, nullptr, when, rid));
        else if (is_send)
            check(OTF2_EvtWriter_MpiIsendComplete(m_writer, nullptr, when, rid));
        else if (completion.outcome == Outcome::completed && completion.operation != nullptr &&
                 completion.operation->call.find("fromRank") != nullptr)
            receive(completion.operation->call, *completion.what, when, rid);
    }

    void complete_access(const Access& access, const Element& what, OTF2_TimeStamp when)
    {
        const uint64_t size = what.find("actual") ? unsigned_value(what, "actual") : access.size;
        check(OTF2_EvtWriter_IoOperationComplete(m_writer, nullptr, when, access.file, size, access.id));
    }

    void complete_collective(const Collective& collective, OTF2_TimeStamp when, uint64_t rid)
    {
        check(OTF2_EvtWriter_NonBlockingCollectiveComplete(m_writer, nullptr, when, collective.operation,
                                                           collective.communicator, collective.root,
                                                           collective.sent, collective.received, rid));
    }

    std::int64_t m_rank;
    const ObjectTable& m_objects;
    Definitions& m_definitions;
    Account& m_account;
    OTF2_EvtWriter* m_writer = nullptr;
    RequestTable m_requests;
    std::string_view m_what;              ///< of the call that is being taken: how it is approximated
    std::optional<Access> m_access;       ///< of this call
    std::unordered_set<uint64_t> m_sends; ///< by request
    std::unordered_map<std::int64_t, Access> m_accesses; ///< by rid, as the others
    std::unordered_map<std::int64_t, Collective> m_collectives;
    uint64_t m_next_access = 0;
    WindowEvents m_windows;
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
        for (std::size_t i = 0; i < locations; ++i)
            check(OTF2_Archive_CloseDefWriter(m_archive, OTF2_Archive_GetDefWriter(m_archive, i)));
        check(OTF2_Archive_CloseDefFiles(m_archive));
    }

    void close() { check(OTF2_Archive_Close(std::exchange(m_archive, nullptr))); }

  private:
    OTF2_Archive* m_archive;
};

struct TimeSpan {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
};

/// One without traces has one location, since ranks are numbers of processes.
std::map<std::int64_t, std::vector<TraceFile>> traces_by_rank(const Project& project)
{
    std::map<std::int64_t, std::vector<TraceFile>> by_rank;
    for (std::int64_t rank = 0; rank < project.process_count; ++rank)
        by_rank[rank] = {};
    for (TraceFile& trace : traces_of(project))
        by_rank[trace.rank].push_back(std::move(trace));
    return by_rank;
}

/// @p traces: of one process; its locations are numbered from @p first on.
std::vector<LocationDefinition> write_process(OTF2_Archive* archive, std::int64_t rank,
                                              const std::vector<TraceFile>& traces, std::size_t first,
                                              ProcessEvents& events, TimeSpan& span)
{
    std::vector<LocationDefinition> definitions;
    std::vector<Location> locations;
    std::map<std::int64_t, std::size_t> by_thread;
    for (const TraceFile& trace : traces) {
        by_thread[trace.thread] = definitions.size();
        definitions.push_back({rank, trace.thread, trace.labels.empty() ? "" : trace.labels[0], 0});
    }
    if (traces.empty())
        definitions.push_back({rank, 0, "", 0});
    for (std::size_t i = 0; i < definitions.size(); ++i)
        locations.emplace_back(archive, first + i);
    RankCalls calls(traces);
    while (const State* call = calls.next()) {
        const TraceFile& trace = calls.trace();
        try {
            events.add(trace, *call, locations[by_thread.at(trace.thread)].writer());
        } catch (const ConvertError& error) { // such as times that do not ascend
            throw ConvertError(trace.path + ":" + std::to_string(call->line) + ": " + error.what());
        }
        span.begin = std::min(span.begin, call->time);
        span.end = std::max(span.end, call->end);
    }
    for (std::size_t i = 0; i < locations.size(); ++i)
        definitions[i].events = locations[i].event_count();
    return definitions;
}

} // namespace

void convert_to_otf2(const Project& project, const Options& options, Account& account)
{
    OTF2_Error_RegisterCallback(do_not_print, nullptr);
    const ObjectTable objects(project);
    Definitions definitions(project);
    OutputDirectory directory(options.output);
    Archive archive(directory.temporary_path());
    std::vector<LocationDefinition> locations;
    TimeSpan span;
    for (const auto& [rank, traces] : traces_by_rank(project)) {
        ProcessEvents events(rank, objects, definitions, account);
        std::ranges::move(write_process(archive.get(), rank, traces, locations.size(), events, span),
                          std::back_inserter(locations));
    }
    archive.close_events(locations.size());
    if (span.begin > span.end)
        span = {0, 0};
    definitions.write(OTF2_Archive_GetGlobalDefWriter(archive.get()), locations, span.begin, span.end);
    archive.close();
    directory.commit();
}

} // namespace hdtrace::exporter
