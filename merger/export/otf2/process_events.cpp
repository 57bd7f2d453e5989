#include "merger/export/otf2/process_events.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/regions.h"
#include "merger/export/collectives.h"
#include "merger/export/format.h"

namespace hdtrace::exporter::otf2 {

namespace {

struct CollectiveOperation {
    std::string_view operation;
    OTF2_CollectiveOp name;
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

constexpr std::string_view partitioned = "starts of partitioned operations: as of one message";
constexpr std::string_view assumed_locks =
    "locks of windows: held from the return of the call that asks for them";
constexpr std::string_view neighbourhood =
    "collective operations of neighbours, which OTF2 does not have: as regions only";
constexpr std::string_view between_groups = "collective operations of inter-communicators: as regions only";
constexpr std::string_view failed_later =
    "completions of operations that failed: accesses to files as cancelled, collective ones without an end";
constexpr std::string_view not_described =
    "messages and operations whose communicator or partner is not described: as regions only";

using AttributeList = std::unique_ptr<OTF2_AttributeList, decltype(&OTF2_AttributeList_Delete)>;

OTF2_TimeStamp begin_of(const Call& call)
{
    return static_cast<OTF2_TimeStamp>(call.state.time);
}

OTF2_TimeStamp end_of(const Call& call)
{
    return static_cast<OTF2_TimeStamp>(call.state.end);
}

uint64_t request_of(std::int64_t rid)
{
    return static_cast<uint64_t>(rid);
}

/// The request of the send of an operation that receives as well: in OTF2 each message has its own.
uint64_t request_of_send(const Operation& operation)
{
    const bool receives = operation.facts->receives != ReceiveKind::none;
    return request_of(operation.rid) | (receives ? uint64_t{1} << 63 : 0);
}

uint64_t unsigned_value(const Element& element, std::string_view name)
{
    return static_cast<uint64_t>(std::max<std::int64_t>(0, element.integer(name).value_or(0)));
}

/// What arrived is told where anything was welcome. MPICH tells nonsense of MPI_Isendrecv.
std::int64_t asked_or_got(const Element& posted, const Element& got, std::string_view name, std::int64_t any)
{
    const std::int64_t asked = posted.integer(name).value_or(any);
    return asked != any ? asked : got.integer(name).value_or(any);
}

uint64_t bytes_received(const Element& element)
{
    return unsigned_value(element, element.find("recvSize") ? "recvSize" : "size");
}

OTF2_IoOperationMode mode_of(FileAccess access)
{
    return access == FileAccess::write  ? OTF2_IO_OPERATION_MODE_WRITE
           : access == FileAccess::read ? OTF2_IO_OPERATION_MODE_READ
                                        : OTF2_IO_OPERATION_MODE_FLUSH;
}

OTF2_IoOperationFlag flags_of(const Operation& operation)
{
    return (operation.facts->collective != CollectiveKind::none ? OTF2_IO_OPERATION_FLAG_COLLECTIVE
                                                                : OTF2_IO_OPERATION_FLAG_NONE) |
           (operation.rid >= 0 ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : OTF2_IO_OPERATION_FLAG_NONE);
}

OTF2_IoAccessMode access_mode(const Element& call)
{
    const auto amode = call.find("amode");
    if (amode && amode->find("RDONLY") != std::string::npos)
        return OTF2_IO_ACCESS_MODE_READ_ONLY;
    if (amode && amode->find("WRONLY") != std::string::npos)
        return OTF2_IO_ACCESS_MODE_WRITE_ONLY;
    return OTF2_IO_ACCESS_MODE_READ_WRITE;
}

/// What was started, and has not done what was asked for.
bool has_failed(const Completion& completion)
{
    return completion.outcome == Outcome::failed || completion.outcome == Outcome::cancelled;
}

/// Windows have events where the call itself acts on them; requests have theirs elsewhere. Of a call in which
/// the process ended nothing tells the window.
bool acts_on_window(const Call& call)
{
    return call.facts.call_class == CallClass::one_sided && call.facts.progress != CallProgress::starts &&
           !call.has_failed() && !call.state.is_unfinished();
}

} // namespace

void ProcessEvents::enter(const Call& call)
{
    AttributeList attributes(nullptr, OTF2_AttributeList_Delete);
    if (const auto source = m_definitions.source(m_objects.call_site(m_rank, call.state))) {
        attributes.reset(OTF2_AttributeList_New());
        check(OTF2_AttributeList_AddSourceCodeLocationRef(attributes.get(), source_attribute, *source));
    }
    if (call.own_region != RegionPaths::outside)
        return enter(m_definitions.own_region(call.state.name), begin_of(call));
    enter(m_definitions.function(call.state.name), begin_of(call), attributes.get());
    m_open.push_back({});
    if (acts_on_window(call))
        tell(m_windows.begin(call, m_writer));
}

void ProcessEvents::enter(OTF2_RegionRef region, OTF2_TimeStamp when, const OTF2_AttributeList* attributes)
{
    check(OTF2_EvtWriter_Enter(m_writer, const_cast<OTF2_AttributeList*>(attributes), when, region));
    m_entered->regions.push_back(region);
    m_entered->last = when;
}

void ProcessEvents::write_leave(OTF2_RegionRef region, OTF2_TimeStamp when)
{
    check(OTF2_EvtWriter_Leave(m_writer, nullptr, when, region));
    m_entered->last = when;
}

/// In OTF2 regions nest: those that overlap are left with it, and entered again. False if it was not entered.
bool ProcessEvents::leave(OTF2_RegionRef region, OTF2_TimeStamp when)
{
    std::vector<OTF2_RegionRef>& entered = m_entered->regions;
    const auto found = std::ranges::find(entered.rbegin(), entered.rend(), region);
    if (found == entered.rend())
        return false;
    const std::vector<OTF2_RegionRef> inner(found.base(), entered.end());
    for (const OTF2_RegionRef overlapping : inner | std::views::reverse)
        write_leave(overlapping, when);
    write_leave(region, when);
    entered.erase(std::next(found).base(), entered.end());
    for (const OTF2_RegionRef overlapping : inner)
        enter(overlapping, when);
    return true;
}

void ProcessEvents::finish()
{
    for (const OTF2_RegionRef region : m_entered->regions | std::views::reverse)
        write_leave(region, m_entered->last);
    m_entered->regions.clear();
}

void ProcessEvents::leave(const Call& call)
{
    if (call.own_region != RegionPaths::outside) {
        if (leave(m_definitions.own_region(call.state.name), end_of(call)))
            m_account.exact();
        else
            m_account.dropped("ends of regions that the trace does not have the beginnings of");
        return;
    }
    if (acts_on_window(call))
        m_windows.finish(call, m_writer);
    if (const auto& issued = m_open.back().issued)
        check(OTF2_EvtWriter_IoOperationIssued(m_writer, nullptr, end_of(call), issued->file, issued->id));
    leave(m_definitions.function(call.state.name), end_of(call));
    const std::string_view approximation = m_open.back().approximation;
    m_open.pop_back();
    if (call.is_inside_call)
        return;
    if (approximation.empty())
        m_account.exact();
    else
        m_account.approximated(approximation);
}

void ProcessEvents::mark(const Call& call)
{
    if (event_kind(call.state) == EventKind::count)
        return count(call.state);
    m_definitions.when_others_have_finished([&] { m_markers.write(call.state, m_location); });
    m_entered->last = std::max(m_entered->last, begin_of(call));
}

void ProcessEvents::count(const State& event)
{
    const auto name = event.find("name");
    if (!name)
        return m_account.dropped("values of counters without a name");
    const Definitions::Metric metric = m_definitions.metric(std::string(*name), m_location);
    OTF2_MetricValue value;
    if (metric.type == OTF2_TYPE_DOUBLE) {
        value.floating_point = counter_value(event);
    } else if (const auto integer = counter_integer(event)) {
        value.signed_int = *integer;
    } else {
        return m_account.dropped("values of counters that are integers elsewhere");
    }
    const auto when = static_cast<OTF2_TimeStamp>(event.time);
    check(OTF2_EvtWriter_Metric(m_writer, nullptr, when, metric.ref, 1, &metric.type, &value));
    m_entered->last = when;
}

void ProcessEvents::started(const Call& call, const Operation& operation)
{
    if (call.has_failed())
        return;
    const CallFacts& facts = *operation.facts;
    const OTF2_TimeStamp when = begin_of(call);
    OpenCall& open = m_open.back();
    if (facts.partitioned)
        open.approximation = partitioned;
    if (facts.access != WindowAccess::none)
        return tell(m_windows.start(operation, m_writer));
    if (facts.receives != ReceiveKind::none && operation.rid >= 0 &&
        operation.call->integer("fromRank") != proc_null)
        check(OTF2_EvtWriter_MpiIrecvRequest(m_writer, nullptr, when, request_of(operation.rid)));
    if (facts.collective == CollectiveKind::neighbourhood) {
        open.approximation = neighbourhood;
        return;
    }
    if (!moves_data(facts))
        return;
    open.collective = describe(operation);
    if (!open.collective)
        return;
    if (operation.rid < 0) {
        check(OTF2_EvtWriter_MpiCollectiveBegin(m_writer, nullptr, when));
    } else {
        check(
            OTF2_EvtWriter_NonBlockingCollectiveRequest(m_writer, nullptr, when, request_of(operation.rid)));
        m_collectives[operation.rid] = *open.collective;
    }
}

void ProcessEvents::sent(const Call& call, const Operation& operation)
{
    if (call.has_failed())
        return;
    const Element& what = *operation.call;
    const Communicator* communicator = m_objects.communicator(m_rank, what);
    const std::int64_t to = what.integer("toRank").value_or(proc_null);
    const std::optional<uint32_t> receiver = m_definitions.local_rank(communicator, to);
    if (!receiver) {
        if (to != proc_null)
            m_open.back().approximation = not_described;
        return;
    }
    const auto tag = static_cast<uint32_t>(what.integer("toTag").value_or(0));
    const uint64_t size = unsigned_value(what, operation.facts->sent_size);
    const OTF2_CommRef comm = m_definitions.communicator(communicator);
    if (operation.rid < 0) {
        check(OTF2_EvtWriter_MpiSend(m_writer, nullptr, begin_of(call), *receiver, comm, tag, size));
        return;
    }
    const uint64_t request = request_of_send(operation);
    check(OTF2_EvtWriter_MpiIsend(m_writer, nullptr, begin_of(call), *receiver, comm, tag, size, request));
    m_sends.insert(request);
}

void ProcessEvents::received(const Call& call, const Completion& completion)
{
    if (completion.operation->rid < 0 && call.has_failed())
        return;
    const Element& posted = *completion.operation->call;
    const Element& got = *completion.what;
    const Communicator* communicator = m_objects.communicator(m_rank, posted);
    const std::int64_t from = asked_or_got(posted, got, "fromRank", any_rank);
    const std::optional<uint32_t> sender = m_definitions.local_rank(communicator, from);
    if (!sender) {
        if (from != proc_null)
            m_open.back().approximation = not_described;
        return;
    }
    const auto tag = static_cast<uint32_t>(asked_or_got(posted, got, "fromTag", any_tag));
    const std::string_view size_name = completion.operation->facts->received_size;
    const bool is_told = posted.find(size_name) || (completion.rid >= 0 && got.find("size"));
    const uint64_t size =
        is_told ? std::min(bytes_received(posted), bytes_received(got.find("size") ? got : posted))
                : static_cast<uint64_t>(std::max<std::int64_t>(0, m_sizes.of(*completion.operation)));
    const OTF2_CommRef comm = m_definitions.communicator(communicator);
    if (completion.rid < 0)
        check(OTF2_EvtWriter_MpiRecv(m_writer, nullptr, end_of(call), *sender, comm, tag, size));
    else
        check(OTF2_EvtWriter_MpiIrecv(m_writer, nullptr, end_of(call), *sender, comm, tag, size,
                                      request_of(completion.rid)));
}

void ProcessEvents::tell(Recorded recorded)
{
    if (recorded == Recorded::nothing)
        m_open.back().approximation = not_described;
    else if (recorded == Recorded::with_assumed_lock)
        m_open.back().approximation = assumed_locks;
}

std::optional<ProcessEvents::Collective> ProcessEvents::describe(const Operation& operation)
{
    const auto name =
        std::ranges::find(collective_operations, operation.facts->operation, &CollectiveOperation::operation);
    const Communicator* communicator = m_objects.communicator(m_rank, *operation.call);
    const auto size = m_definitions.member_count(communicator);
    const auto me = m_definitions.local_rank(communicator, m_rank);
    const auto root = m_definitions.local_rank(communicator, root_of(*operation.call));
    const auto bytes =
        size && me ? direct_bytes(operation, {*size, *me, m_rank, root.has_value()}) : std::nullopt;
    if (name == std::end(collective_operations) || !bytes) {
        m_open.back().approximation =
            m_definitions.is_between_groups(communicator) ? between_groups : not_described;
        return std::nullopt;
    }
    return Collective{name->name, m_definitions.communicator(communicator),
                      root.value_or(OTF2_UNDEFINED_UINT32), static_cast<uint64_t>(bytes->sent),
                      static_cast<uint64_t>(bytes->received)};
}

// --- files ---

void ProcessEvents::accessed(const Call& call, const Operation& operation)
{
    const Element& what = *operation.call;
    const ProjectFile* file = m_objects.file(m_rank, what);
    if (file == nullptr || call.has_failed())
        return;
    const Access access = {m_definitions.handle(last_handle(file)), unsigned_value(what, "size"),
                           m_next_access++};
    const AttributeList attributes(OTF2_AttributeList_New(), OTF2_AttributeList_Delete);
    if (what.integer("offset"))
        check(
            OTF2_AttributeList_AddUint64(attributes.get(), offset_attribute, unsigned_value(what, "offset")));
    check(OTF2_EvtWriter_IoOperationBegin(m_writer, attributes.get(), begin_of(call), access.file,
                                          mode_of(operation.facts->file), flags_of(operation), access.size,
                                          access.id));
    if (operation.rid < 0) {
        m_open.back().access = access;
    } else {
        m_open.back().issued = access;
        m_accesses[operation.rid] = access;
    }
}

void ProcessEvents::end_access(const Access& access, const Completion& completion)
{
    const auto when = static_cast<OTF2_TimeStamp>(completion.end);
    if (!has_failed(completion))
        return complete_access(access, *completion.what, when);
    m_open.back().approximation = failed_later;
    check(OTF2_EvtWriter_IoOperationCancelled(m_writer, nullptr, when, access.file, access.id));
}

void ProcessEvents::complete_access(const Access& access, const Element& what, OTF2_TimeStamp when)
{
    const uint64_t size = what.find("actual") ? unsigned_value(what, "actual") : access.size;
    check(OTF2_EvtWriter_IoOperationComplete(m_writer, nullptr, when, access.file, size, access.id));
}

// Calls name the file: of several handles it is taken for the one that was opened last.
Definitions::FileHandle ProcessEvents::last_handle(const ProjectFile* file) const
{
    const auto open = m_handles.find(file);
    return {file, open == m_handles.end() || open->second == 0 ? 0 : open->second - 1};
}

void ProcessEvents::made(const Call& call, ObjectKind kind, std::int64_t)
{
    const ProjectFile* file = kind == ObjectKind::file ? m_objects.file(m_rank, call.state) : nullptr;
    if (file == nullptr)
        return;
    ++m_handles[file];
    const Definitions::FileHandle handle = last_handle(file);
    m_definitions.opened(handle, m_objects.communicator(m_rank, call.state));
    check(OTF2_EvtWriter_IoCreateHandle(m_writer, nullptr, end_of(call), m_definitions.handle(handle),
                                        access_mode(call.state), OTF2_IO_CREATION_FLAG_NONE,
                                        OTF2_IO_STATUS_FLAG_NONE));
}

void ProcessEvents::freed(const Call& call, ObjectKind kind, std::int64_t)
{
    const ProjectFile* file = kind == ObjectKind::file ? m_objects.file(m_rank, call.state) : nullptr;
    if (file == nullptr)
        return;
    const OTF2_IoHandleRef handle = m_definitions.handle(last_handle(file));
    check(OTF2_EvtWriter_IoDestroyHandle(m_writer, nullptr, end_of(call), handle));
    if (std::size_t& open = m_handles[file]; open > 0)
        --open;
}

// --- what is complete ---

void ProcessEvents::completed(const Call& call, const Completion& completion)
{
    const OTF2_TimeStamp when = end_of(call);
    if (completion.rid < 0) {
        const OpenCall& open = m_open.back();
        if (open.access)
            complete_access(*open.access, call.state, when);
        if (open.collective)
            check(OTF2_EvtWriter_MpiCollectiveEnd(m_writer, nullptr, when, open.collective->operation,
                                                  open.collective->communicator, open.collective->root,
                                                  open.collective->sent, open.collective->received));
        return;
    }
    const uint64_t request = request_of(completion.rid);
    if (m_windows.complete(completion, m_writer))
        return;
    if (auto access = m_accesses.extract(completion.rid)) {
        end_access(access.mapped(), completion);
    } else if (auto collective = m_collectives.extract(completion.rid)) {
        if (has_failed(completion)) {
            m_open.back().approximation = failed_later;
            return;
        }
        const Collective& what = collective.mapped();
        check(OTF2_EvtWriter_NonBlockingCollectiveComplete(m_writer, nullptr, when, what.operation,
                                                           what.communicator, what.root, what.sent,
                                                           what.received, request));
    } else {
        complete_message(completion, when);
    }
}

void ProcessEvents::complete_message(const Completion& completion, OTF2_TimeStamp when)
{
    const Operation* operation = completion.operation;
    const bool also_receives = operation != nullptr && operation->facts->receives != ReceiveKind::none;
    const uint64_t request = operation != nullptr ? request_of_send(*operation) : request_of(completion.rid);
    const bool is_send = m_sends.erase(request) > 0;
    if (is_send && (also_receives || completion.outcome != Outcome::cancelled))
        check(OTF2_EvtWriter_MpiIsendComplete(m_writer, nullptr, when, request));
    if (completion.outcome == Outcome::cancelled)
        check(OTF2_EvtWriter_MpiRequestCancelled(m_writer, nullptr, when, request_of(completion.rid)));
}

} // namespace hdtrace::exporter::otf2
