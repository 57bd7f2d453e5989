// Archives of the Open Trace Format 2.

#include <algorithm>
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

#include "hdtrace/reader/objects.h"
#include "hdtrace/reader/requests.h"
#include "merger/export/collectives.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

namespace {

void check(OTF2_ErrorCode result)
{
    if (result != OTF2_SUCCESS)
        throw ConvertError(std::string("the library of OTF2 says: ") + OTF2_Error_GetDescription(result));
}

OTF2_ErrorCode do_not_print(void*, const char*, uint64_t, const char*, OTF2_ErrorCode error, const char*,
                            va_list)
{
    return error;
}

OTF2_FlushType flush_when_full(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

// --- definitions ---

constexpr OTF2_AttributeRef offset_attribute = 0;

struct Role {
    CallClass of_class;
    OTF2_RegionRole role;
};

constexpr Role roles[] = {
    {CallClass::point_to_point, OTF2_REGION_ROLE_POINT2POINT},
    {CallClass::completion, OTF2_REGION_ROLE_POINT2POINT},
    {CallClass::collective, OTF2_REGION_ROLE_COLL_OTHER},
    {CallClass::one_sided, OTF2_REGION_ROLE_RMA},
    {CallClass::file, OTF2_REGION_ROLE_FILE_IO},
    {CallClass::other, OTF2_REGION_ROLE_CODE},
};

OTF2_RegionRole role_of(CallClass of_class)
{
    const auto found = std::ranges::find(roles, of_class, &Role::of_class);
    return found == std::end(roles) ? OTF2_RegionRole{OTF2_REGION_ROLE_FUNCTION} : found->role;
}

/// Numbers for what events name, written when all are known.
class Definitions {
  public:
    explicit Definitions(const Project& project) : m_project(project)
    {
        for (const Communicator& communicator : project.communicators)
            m_communicators[&communicator] = static_cast<OTF2_CommRef>(m_communicators.size());
        for (const ProjectFile& file : project.files)
            m_files[&file] = static_cast<OTF2_IoHandleRef>(m_files.size());
    }

    OTF2_RegionRef region(const std::string& name)
    {
        const auto [place, is_new] =
            m_regions.try_emplace(name, static_cast<OTF2_RegionRef>(m_region_names.size()));
        if (is_new)
            m_region_names.push_back(name);
        return place->second;
    }

    OTF2_CommRef communicator(const Communicator* communicator) const
    {
        return m_communicators.at(communicator);
    }
    OTF2_IoHandleRef file(const ProjectFile* file) const { return m_files.at(file); }

    /// One thread; its number is its place in the list of all.
    struct Location {
        const TraceFile* trace;
        std::uint64_t events;
    };

    void write(OTF2_GlobalDefWriter* writer, const std::vector<Location>& locations, std::int64_t begin,
               std::int64_t end)
    {
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000, static_cast<uint64_t>(begin),
                                                        static_cast<uint64_t>(end - begin + 1),
                                                        static_cast<uint64_t>(begin)));
        m_writer = writer;
        write_attribute();
        write_locations(locations);
        write_regions();
        write_communicators(locations);
        write_files();
    }

  private:
    /// The text has to be written before what names it.
    OTF2_StringRef text(const std::string& text)
    {
        const auto [place, is_new] = m_texts.try_emplace(text, static_cast<OTF2_StringRef>(m_texts.size()));
        if (is_new)
            check(OTF2_GlobalDefWriter_WriteString(m_writer, place->second, text.c_str()));
        return place->second;
    }

    void write_attribute()
    {
        const OTF2_StringRef name = text("offset");
        check(OTF2_GlobalDefWriter_WriteAttribute(m_writer, offset_attribute, name,
                                                  text("of the first byte in the file"), OTF2_TYPE_UINT64));
    }

    void write_locations(const std::vector<Location>& locations)
    {
        std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
        std::int64_t process = -1;
        for (std::size_t i = 0; i < locations.size(); ++i) {
            const TraceFile& trace = *locations[i].trace;
            const std::string host = trace.labels.empty() ? "" : trace.labels[0];
            const auto [node, is_new] =
                hosts.try_emplace(host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size()));
            if (is_new)
                check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
                    m_writer, node->second, text(host), text("node"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
            const auto group = static_cast<OTF2_LocationGroupRef>(trace.rank);
            if (trace.rank != process)
                check(OTF2_GlobalDefWriter_WriteLocationGroup(
                    m_writer, group, text("Rank " + std::to_string(trace.rank)),
                    OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP));
            process = trace.rank;
            check(OTF2_GlobalDefWriter_WriteLocation(
                m_writer, i, text("Thread " + std::to_string(trace.thread)), OTF2_LOCATION_TYPE_CPU_THREAD,
                locations[i].events, group));
        }
    }

    void write_regions()
    {
        for (std::size_t ref = 0; ref < m_region_names.size(); ++ref) {
            const std::string& name = m_region_names[ref];
            const CallClass of_class = class_of(name);
            const bool is_mpi = of_class != CallClass::other;
            const OTF2_StringRef shown = text(is_mpi ? "MPI_" + name : name);
            check(OTF2_GlobalDefWriter_WriteRegion(
                m_writer, static_cast<OTF2_RegionRef>(ref), shown, shown, text(""), role_of(of_class),
                is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, text(""), 0, 0));
        }
    }

    /// The first group is the world: communicators have places in it as members.
    void write_communicators(const std::vector<Location>& locations)
    {
        std::vector<uint64_t> first_threads;
        for (std::size_t i = 0; i < locations.size(); ++i) {
            if (i == 0 || locations[i].trace->rank != locations[i - 1].trace->rank)
                first_threads.push_back(i);
        }
        write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, first_threads);
        for (const Communicator& communicator : m_project.communicators) {
            const OTF2_CommRef ref = m_communicators.at(&communicator);
            const bool has_two =
                std::ranges::any_of(communicator.members, [](const auto& m) { return m.group == 1; });
            const OTF2_GroupRef group = write_group(OTF2_GROUP_TYPE_COMM_GROUP, members(communicator, 0));
            if (!has_two) {
                check(OTF2_GlobalDefWriter_WriteComm(m_writer, ref, text(communicator.name), group,
                                                     OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
                continue;
            }
            const OTF2_GroupRef other = write_group(OTF2_GROUP_TYPE_COMM_GROUP, members(communicator, 1));
            check(OTF2_GlobalDefWriter_WriteInterComm(m_writer, ref, text(communicator.name), group, other,
                                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        }
    }

    static std::vector<uint64_t> members(const Communicator& communicator, std::int64_t group)
    {
        std::map<std::int64_t, uint64_t> by_local;
        for (const Communicator::Member& member : communicator.members) {
            if (member.group.value_or(0) == group)
                by_local[member.local] = static_cast<uint64_t>(member.global);
        }
        std::vector<uint64_t> members;
        for (const auto& [ignored, global] : by_local)
            members.push_back(global);
        return members;
    }

    OTF2_GroupRef write_group(OTF2_GroupType type, const std::vector<uint64_t>& members)
    {
        check(OTF2_GlobalDefWriter_WriteGroup(m_writer, m_group_count, text(""), type, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(members.size()),
                                              members.data()));
        return m_group_count++;
    }

    void write_files()
    {
        constexpr OTF2_IoParadigmRef mpi_io = 0;
        const OTF2_StringRef identification = text("MPI-IO"), name = text("MPI-IO");
        check(OTF2_GlobalDefWriter_WriteIoParadigm(m_writer, mpi_io, identification, name,
                                                   OTF2_IO_PARADIGM_CLASS_PARALLEL,
                                                   OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr, nullptr, nullptr));
        for (const ProjectFile& file : m_project.files) {
            const OTF2_IoHandleRef ref = m_files.at(&file);
            const OTF2_StringRef file_name = text(file.name);
            check(OTF2_GlobalDefWriter_WriteIoRegularFile(m_writer, ref, file_name,
                                                          OTF2_UNDEFINED_SYSTEM_TREE_NODE));
            check(OTF2_GlobalDefWriter_WriteIoHandle(m_writer, ref, file_name, ref, mpi_io,
                                                     OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM,
                                                     OTF2_UNDEFINED_IO_HANDLE));
        }
    }

    const Project& m_project;
    OTF2_GlobalDefWriter* m_writer = nullptr;
    std::map<std::string, OTF2_StringRef> m_texts;
    std::map<std::string, OTF2_RegionRef> m_regions;
    std::vector<std::string> m_region_names;
    std::unordered_map<const Communicator*, OTF2_CommRef> m_communicators;
    std::unordered_map<const ProjectFile*, OTF2_IoHandleRef> m_files;
    OTF2_GroupRef m_group_count = 0;
};

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

constexpr std::int64_t nobody = -2; // MPI_PROC_NULL

constexpr std::string_view only_regions = "one-sided calls: as regions only";
constexpr std::string_view other_world =
    "messages and operations whose communicator or partner is not described: as regions only";

/// The events of one process.
class ProcessEvents {
  public:
    ProcessEvents(std::int64_t rank, const ObjectTable& objects, Definitions& definitions, Account& account)
        : m_rank(rank), m_objects(objects), m_definitions(definitions), m_account(account)
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
        if (of_class == CallClass::one_sided)
            m_what = only_regions;
        for (const OperationPointer& operation : progress.started)
            start(*operation, call);
        if (!progress.started.empty())
            return std::nullopt;
        if (call.name == "Send" || call.name == "Ssend" || call.name == "Bsend" || call.name == "Rsend" ||
            call.name.starts_with("Sendrecv"))
            send(call, time(call), std::nullopt);
        if (of_class == CallClass::file)
            begin_access(call, false);
        const std::string kind = of_class == CallClass::collective ? collective_kind(call.name) : "";
        if (kind.empty() || call.name.ends_with("_init"))
            return std::nullopt;
        std::optional<Collective> collective = describe(call, kind, &call.children);
        if (collective)
            check(OTF2_EvtWriter_MpiCollectiveBegin(m_writer, nullptr, time(call)));
        return collective;
    }

    void start(const Operation& operation, const State& call)
    {
        const Element& what = operation.call;
        const auto rid = static_cast<uint64_t>(operation.rid);
        if (what.name == "Irecv" || what.name == "Imrecv" || what.name == "Recv_init") {
            if (what.integer("fromRank") != nobody)
                check(OTF2_EvtWriter_MpiIrecvRequest(m_writer, nullptr, time(call), rid));
        } else if (what.name == "Isend" || what.name == "Issend" || what.name == "Ibsend" ||
                   what.name == "Irsend" ||
                   (what.name.ends_with("end_init") && !what.name.starts_with("P"))) {
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

    /// The rank in the communicator, or in the other group of an inter-communicator. Empty if it is not
    /// described.
    std::optional<uint32_t> local_rank(const Communicator* communicator, std::int64_t rank) const
    {
        if (communicator == nullptr || rank < 0)
            return std::nullopt;
        const auto found = std::ranges::find(communicator->members, rank, &Communicator::Member::global);
        return found == communicator->members.end() ? std::nullopt
                                                    : std::optional(static_cast<uint32_t>(found->local));
    }

    void send(const Element& what, OTF2_TimeStamp when, std::optional<uint64_t> request)
    {
        const Communicator* communicator = m_objects.communicator(m_rank, what);
        const std::int64_t to = what.integer("toRank").value_or(nobody);
        const std::optional<uint32_t> receiver = local_rank(communicator, to);
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
        m_sends.insert(static_cast<std::int64_t>(*request));
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
        const auto root = local_rank(communicator, call.integer("rootRank").value_or(-1));
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
            const uint64_t size = call.find("actual") ? unsigned_value(call, "actual") : m_access->size;
            check(OTF2_EvtWriter_IoOperationComplete(m_writer, nullptr, end(call), m_access->file, size,
                                                     m_access->id));
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
    }

    /// @p posted names the communicator, @p got what has arrived.
    void receive(const Element& posted, const Element& got, OTF2_TimeStamp when,
                 std::optional<uint64_t> request)
    {
        const Communicator* communicator = m_objects.communicator(m_rank, posted);
        const std::int64_t from =
            got.integer("fromRank").value_or(posted.integer("fromRank").value_or(nobody));
        const std::optional<uint32_t> sender = local_rank(communicator, from);
        if (!sender) {
            if (from != nobody)
                m_what = other_world;
            return;
        }
        const auto tag =
            static_cast<uint32_t>(got.integer("fromTag").value_or(posted.integer("fromTag").value_or(0)));
        const uint64_t size = unsigned_value(got, got.find("recvSize") ? "recvSize" : "size");
        const OTF2_CommRef comm = m_definitions.communicator(communicator);
        if (request)
            check(OTF2_EvtWriter_MpiIrecv(m_writer, nullptr, when, *sender, comm, tag, size, *request));
        else
            check(OTF2_EvtWriter_MpiRecv(m_writer, nullptr, when, *sender, comm, tag, size));
    }

    void complete(const Completion& completion, OTF2_TimeStamp when)
    {
        const auto rid = static_cast<uint64_t>(completion.rid);
        const bool is_send = m_sends.erase(completion.rid) > 0;
        if (auto access = m_accesses.extract(completion.rid))
            check(OTF2_EvtWriter_IoOperationComplete(m_writer, nullptr, when, access.mapped().file,
                                                     access.mapped().size, access.mapped().id));
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
    std::string_view m_what;                  ///< of the call that is being taken: how it is approximated
    std::optional<Access> m_access;           ///< of this call
    std::unordered_set<std::int64_t> m_sends; ///< by rid, as the others
    std::unordered_map<std::int64_t, Access> m_accesses;
    std::unordered_map<std::int64_t, Collective> m_collectives;
    uint64_t m_next_access = 0;
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

/// @p traces: of one process; their locations are numbered from @p first on. Returns how many events each
/// has.
std::vector<std::uint64_t> write_process(OTF2_Archive* archive, const std::vector<TraceFile>& traces,
                                         std::size_t first, ProcessEvents& events, TimeSpan& span)
{
    std::vector<Location> locations;
    std::map<std::int64_t, std::size_t> by_thread;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        locations.emplace_back(archive, first + i);
        by_thread[traces[i].thread] = i;
    }
    RankCalls calls(traces);
    while (const State* call = calls.next()) {
        events.add(calls.trace(), *call, locations[by_thread.at(calls.trace().thread)].writer());
        span.begin = std::min(span.begin, call->time);
        span.end = std::max(span.end, call->end);
    }
    std::vector<std::uint64_t> counts;
    for (const Location& location : locations)
        counts.push_back(location.event_count());
    return counts;
}

} // namespace

void convert_to_otf2(const Project& project, const Options& options, Account& account)
{
    OTF2_Error_RegisterCallback(do_not_print, nullptr);
    const ObjectTable objects(project);
    const std::vector<TraceFile> traces = traces_of(project);
    Definitions definitions(project);
    OutputDirectory directory(options.output);
    Archive archive(directory.temporary_path());
    std::vector<Definitions::Location> locations;
    TimeSpan span;
    for (std::size_t i = 0; i < traces.size();) {
        std::size_t next = i;
        while (next < traces.size() && traces[next].rank == traces[i].rank)
            ++next;
        ProcessEvents events(traces[i].rank, objects, definitions, account);
        const std::vector<TraceFile> of_process(traces.begin() + static_cast<std::ptrdiff_t>(i),
                                                traces.begin() + static_cast<std::ptrdiff_t>(next));
        for (const std::uint64_t count : write_process(archive.get(), of_process, i, events, span))
            locations.push_back({&traces[locations.size()], count});
        i = next;
    }
    archive.close_events(locations.size());
    if (span.begin > span.end)
        span = {0, 0};
    definitions.write(OTF2_Archive_GetGlobalDefWriter(archive.get()), locations, span.begin, span.end);
    archive.close();
    directory.commit();
}

} // namespace hdtrace::exporter
