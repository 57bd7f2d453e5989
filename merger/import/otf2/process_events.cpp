#include "merger/import/otf2/process_events.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace::importer::otf2 {

namespace {

constexpr std::string_view not_first_message =
    "calls that start or complete messages which are not their own: as calls inside them";
constexpr std::string_view unknown_volume = "collective operations whose bytes for each member are not told";
constexpr std::string_view without_window = "one-sided operations: without the window and the place in it";
constexpr std::string_view with_nobody =
    "messages with a negative rank: as with MPI_PROC_NULL, which nobody is";
constexpr std::string_view never_left =
    "calls of which the archive does not tell the end: until the next call or region";

constexpr std::ptrdiff_t most_calls_inside_each_other = 100; // that readers of traces bear

std::int64_t bytes(std::uint64_t size)
{
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(size, most));
}

/// MPI_PROC_NULL of each library, where a writer put it into a number without sign (EZTrace does).
bool is_negative(uint32_t rank)
{
    return rank > static_cast<uint32_t>(std::numeric_limits<std::int32_t>::max());
}

/// Of a receive from nobody it is MPI_ANY_TAG.
std::int64_t signed_tag(uint32_t tag)
{
    return static_cast<std::int32_t>(tag);
}

bool sends(const CallFacts& facts)
{
    return facts.sends != SendMode::none && facts.progress != CallProgress::prepares;
}

bool receives(const CallFacts& facts)
{
    return facts.receives != ReceiveKind::none && facts.progress != CallProgress::prepares;
}

bool starts(const CallFacts& facts)
{
    return facts.progress == CallProgress::starts;
}

State event_of(std::string_view name, std::string_view kind, std::int64_t time)
{
    State event;
    event.name = "Event";
    event.is_event = true;
    event.time = event.end = time;
    event.attributes.push_back("name", name);
    if (!kind.empty())
        event.attributes.push_back("kind", kind);
    return event;
}

/// As it stands in traces; nothing if it is no number that these can hold.
std::optional<std::string> value_of(OTF2_Type type, const OTF2_MetricValue& value)
{
    if (type == OTF2_TYPE_INT64)
        return std::to_string(value.signed_int);
    if (type == OTF2_TYPE_UINT64 && value.unsigned_int <= std::numeric_limits<std::int64_t>::max())
        return std::to_string(value.unsigned_int);
    if (type != OTF2_TYPE_DOUBLE)
        return std::nullopt;
    const double number = value.floating_point;
    if (std::isnan(number))
        return "NaN";
    if (std::isinf(number))
        return number > 0 ? "INF" : "-INF";
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

std::string_view scope_of(OTF2_MetricScope scope)
{
    switch (scope) {
    case OTF2_SCOPE_LOCATION_GROUP:
        return "process";
    case OTF2_SCOPE_SYSTEM_TREE_NODE:
        return "node";
    case OTF2_SCOPE_GROUP:
        return "all";
    default:
        return "thread";
    }
}

/// For which time a value holds; empty if that cannot be said.
std::string_view validity_of(OTF2_MetricMode mode)
{
    switch (mode) {
    case OTF2_METRIC_ABSOLUTE_NEXT:
        return "after";
    case OTF2_METRIC_ABSOLUTE_LAST:
        return "before";
    case OTF2_METRIC_ABSOLUTE_POINT:
        return "point";
    default:
        return {};
    }
}

/// Members of a group in ranges, as an .info tells them.
std::string map_of(const std::vector<std::int64_t>& ranks)
{
    std::string map;
    for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
        for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;)
            ++end;
        const auto range = [&](std::int64_t first) {
            const std::int64_t last = first + static_cast<std::int64_t>(end - begin) - 1;
            return std::to_string(first) + (last == first ? "" : ".." + std::to_string(last));
        };
        map += range(ranks[begin]) + "->" + range(static_cast<std::int64_t>(begin)) + ";";
    }
    return map;
}

} // namespace

// --- what comes too late ---

void OutcomeReader::start(OTF2_LocationRef location)
{
    m_location = location;
    m_next_region = 0;
    m_entered.clear();
}

void OutcomeReader::enter(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region)
{
    m_entered.emplace_back(region, m_next_region++);
}

void OutcomeReader::leave(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region)
{
    const auto found = std::ranges::find(m_entered.rbegin(), m_entered.rend(), region,
                                         [](const auto& one) { return one.first; });
    if (found == m_entered.rend())
        return;
    for (auto inner = found.base(); inner != m_entered.end(); ++inner)
        m_outcomes[m_location].never_left.insert(inner->second);
    m_entered.erase(std::prev(found.base()), m_entered.end());
}

void OutcomeReader::request_receive(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request)
{
    std::vector<Outcomes::Received>& receives = m_outcomes[m_location].receives;
    m_receives[request] = {m_location, receives.size()};
    receives.push_back({});
}

void OutcomeReader::receive(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t, OTF2_CommRef communicator,
                            uint32_t, uint64_t size, uint64_t request)
{
    if (const auto found = m_receives.extract(request))
        m_outcomes[found.mapped().first].receives[found.mapped().second] = {communicator, size};
}

void OutcomeReader::request_collective(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request)
{
    std::vector<CollectiveEvent>& collectives = m_outcomes[m_location].collectives;
    m_collectives[request] = {m_location, collectives.size()};
    collectives.push_back({});
}

void OutcomeReader::complete_collective(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_CollectiveOp,
                                        OTF2_CommRef communicator, uint32_t root, uint64_t sent,
                                        uint64_t received, uint64_t request)
{
    if (const auto found = m_collectives.extract(request))
        m_outcomes[found.mapped().first].collectives[found.mapped().second] = {communicator, root, sent,
                                                                               received};
}

OTF2_EvtReaderCallbacks* OutcomeReader::callbacks()
{
    using To = OutcomeReader;
    OTF2_EvtReaderCallbacks* const set = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(set, event<&To::enter, To>);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(set, event<&To::leave, To>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(set, event<&To::request_receive, To>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(set, event<&To::receive, To>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(set, event<&To::request_collective, To>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(set,
                                                                     event<&To::complete_collective, To>);
    return set;
}

// --- regions ---

ProcessEvents::ProcessEvents(const Definitions& definitions, const Import& import, const Markers& markers,
                             OutcomeReader& outcomes, Writer writer, std::int64_t rank, ProcessTrace& process)
    : m_definitions(definitions), m_import(import), m_markers(markers), m_outcomes(outcomes),
      m_writer(writer), m_rank(rank), m_process(process)
{
    m_process.write_world();
}

OTF2_EvtReaderCallbacks* ProcessEvents::callbacks()
{
    using To = ProcessEvents;
    OTF2_EvtReaderCallbacks* const set = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(set, event<&To::enter, To>);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(set, event<&To::leave, To>);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(set, event<&To::send, To>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(set, event<&To::start_send, To>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(set, event<&To::complete_send, To>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(set, event<&To::start_receive, To>);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(set, event<&To::receive, To>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(set, event<&To::complete_receive, To>);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(set, event<&To::test, To>);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(set, event<&To::cancel, To>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(set, event<&To::collective, To>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(set, event<&To::start_collective, To>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(set,
                                                                     event<&To::complete_collective, To>);
    OTF2_EvtReaderCallbacks_SetMetricCallback(set, event<&To::count, To>);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(set, event<&To::put_data, To>);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(set, event<&To::get_data, To>);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(set, event<&To::change_data, To>);
    OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(set, event<&To::open_file, To>);
    OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(set, event<&To::close_file, To>);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(set, event<&To::access_file, To>);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(set, event<&To::complete_access, To>);
    return set;
}

void ProcessEvents::start(OTF2_LocationRef location, ThreadTrace& trace)
{
    m_trace = &trace;
    const auto markers = m_markers.find(location);
    m_location_markers = markers == m_markers.end() ? nullptr : &markers->second;
    m_next_marker = 0;
    m_location_outcomes = &m_outcomes.of(location);
    m_next_receive = m_next_collective = 0;
    m_next_region = 0;
    m_last = trace.last_end();
    m_open.clear();
}

void ProcessEvents::finish()
{
    write_markers(std::numeric_limits<OTF2_TimeStamp>::max());
    while (!m_open.empty()) {
        Open open = std::move(m_open.back());
        m_open.pop_back();
        if (!open.is_call)
            continue;
        put(open.state, "unfinished", 1);
        close_call(std::move(open), m_last);
    }
}

/// Not before that of the event before.
std::int64_t ProcessEvents::time_of(OTF2_TimeStamp ticks)
{
    const std::int64_t time = m_definitions.clock().time_of(ticks);
    if (time < m_last && !m_has_told_order) {
        m_import.account.note("rank " + std::to_string(m_rank) + ", thread " +
                              std::to_string(m_trace->thread()) +
                              ": times are not in their order; events are as late as those before them");
        m_has_told_order = true;
    }
    m_last = std::max(m_last, time);
    return m_last;
}

void ProcessEvents::write_markers(OTF2_TimeStamp until)
{
    while (m_location_markers && m_next_marker < m_location_markers->size() &&
           (*m_location_markers)[m_next_marker].ticks <= until) {
        const Marker& marker = (*m_location_markers)[m_next_marker++];
        State mark = event_of(marker.name, {}, time_of(marker.ticks));
        if (!marker.text.empty())
            mark.attributes.push_back("text", marker.text);
        write_event(std::move(mark));
    }
}

/// Inside the call that the thread is in, if it is in one.
void ProcessEvents::write_event(State event)
{
    if (Open* const call = innermost_call())
        call->state.nested.push_back(std::move(event));
    else
        m_trace->write(event);
}

ProcessEvents::Open* ProcessEvents::innermost_call()
{
    const auto found = std::ranges::find(m_open.rbegin(), m_open.rend(), true, &Open::is_call);
    return found == m_open.rend() ? nullptr : &*found;
}

void ProcessEvents::close_call(Open open, std::int64_t end)
{
    open.state.end = end;
    if (Open* const outer = innermost_call()) {
        outer->state.nested.push_back(std::move(open.state));
        return;
    }
    m_trace->write(open.state);
    if (open.approximation.empty())
        m_import.account.exact();
    else
        m_import.account.approximated(open.approximation);
}

/// Inside a call of which the archive does not tell the end all that follows would seem to be.
void ProcessEvents::close_never_left(std::int64_t end)
{
    if (m_open.empty() || !m_open.back().is_never_left)
        return;
    Open open = std::move(m_open.back());
    m_open.pop_back();
    open.approximation = never_left;
    close_call(std::move(open), end);
}

void ProcessEvents::enter(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_RegionRef ref)
{
    write_markers(ticks);
    close_never_left(time_of(ticks));
    const Region* const region = m_definitions.region(ref);
    if (region == nullptr)
        throw ImportError("region " + std::to_string(ref) + " is entered, but not defined");
    Open open{ref, !region->call.empty(), {}};
    const std::int64_t time = time_of(ticks);
    open.is_never_left = open.is_call && m_location_outcomes->never_left.contains(m_next_region);
    ++m_next_region;
    if (open.is_call) {
        if (std::ranges::count(m_open, true, &Open::is_call) >= most_calls_inside_each_other)
            throw ImportError("more than " + std::to_string(most_calls_inside_each_other) +
                              " calls are inside each other");
        open.state.name = region->call;
        open.state.time = time;
        open.facts = &facts_of(region->call);
    } else {
        describe_region(*region);
        write_event(event_of(region->name, "begin", time));
    }
    m_open.push_back(std::move(open));
}

void ProcessEvents::leave(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_RegionRef ref)
{
    write_markers(ticks);
    const std::int64_t time = time_of(ticks);
    close_never_left(time);
    const auto found = std::ranges::find(m_open.rbegin(), m_open.rend(), ref, &Open::region);
    if (found == m_open.rend())
        return m_import.account.dropped("ends of regions without a beginning");
    const auto depth = static_cast<std::size_t>(m_open.rend() - found);
    while (m_open.size() >= depth) {
        Open open = std::move(m_open.back());
        m_open.pop_back();
        if (open.is_call) {
            close_call(std::move(open), time);
        } else {
            write_event(event_of(m_definitions.region(open.region)->name, "end", time));
            m_import.account.exact();
        }
    }
}

void ProcessEvents::describe_region(const Region& region)
{
    if (region.file.empty() || !m_described_names.insert("region " + region.name).second)
        return;
    InfoText line("Region");
    line.text("name", region.name).text("file", region.file);
    if (region.line > 0)
        line.number("line", region.line);
    m_process.write(line);
}

// --- messages ---

State* ProcessEvents::begin_message(std::string_view name, std::int64_t time, bool fits)
{
    Open* const call = innermost_call();
    if (call == nullptr) {
        m_import.account.dropped("messages outside of calls of MPI");
        return nullptr;
    }
    if (fits)
        return &call->state;
    call->approximation = not_first_message;
    State& inner = call->state.nested.emplace_back();
    inner.name = name;
    inner.time = inner.end = time;
    return &inner;
}

std::optional<std::int64_t> ProcessEvents::rank_in(OTF2_CommRef ref, uint32_t rank) const
{
    const Communicator* const communicator = m_definitions.communicator(ref);
    if (communicator == nullptr)
        return std::nullopt;
    if (communicator->is_self)
        return m_rank;
    // Between two groups it is of the other one.
    const bool is_in_last =
        communicator->groups.size() > 1 &&
        std::ranges::find(communicator->groups[0], m_rank) != communicator->groups[0].end();
    const std::vector<std::int64_t>& ranks = communicator->groups[is_in_last ? 1 : 0];
    return rank < ranks.size() ? std::optional(ranks[rank]) : std::nullopt;
}

/// Its id; the process describes it when it first uses it.
std::optional<std::int64_t> ProcessEvents::cid_of(OTF2_CommRef ref)
{
    const Communicator* const communicator = m_definitions.communicator(ref);
    if (communicator == nullptr)
        return std::nullopt;
    if (communicator->id == 0 || !m_described.insert(ref).second)
        return communicator->id;
    std::vector<std::vector<std::int64_t>> groups = communicator->groups;
    if (communicator->is_self)
        groups = {{m_rank}};
    const auto is_member = [&](const std::vector<std::int64_t>& ranks) {
        return std::ranges::find(ranks, m_rank) != ranks.end();
    };
    if (groups.size() > 1 && is_member(groups[1]))
        std::swap(groups[0], groups[1]);
    if (!is_member(groups[0]))
        throw ImportError("rank " + std::to_string(m_rank) + " uses communicator " + std::to_string(ref) +
                          ", but is no member of it");
    InfoText line("Comm");
    const std::string uid = "otf2/" + std::to_string(ref);
    line.text("map", map_of(groups[0])).number("id", communicator->id).text("name", communicator->name);
    line.text("uid", communicator->is_self ? uid + "/" + std::to_string(m_rank) : uid);
    if (groups.size() > 1)
        line.text("remote", map_of(groups[1]));
    m_process.write(line);
    return communicator->id;
}

void ProcessEvents::put_peer(State& call, std::string_view rank_name, std::string_view tag_name,
                             OTF2_CommRef communicator, uint32_t peer, uint32_t tag)
{
    const std::int64_t rank = peer_of(communicator, peer);
    const auto cid = cid_of(communicator);
    put(call, rank_name, rank);
    put(call, tag_name, signed_tag(tag));
    if (cid && !call.has("cid"))
        put(call, "cid", *cid);
}

std::int64_t ProcessEvents::peer_of(OTF2_CommRef communicator, uint32_t peer)
{
    if (is_negative(peer)) {
        approximate(with_nobody);
        return proc_null;
    }
    const auto rank = rank_in(communicator, peer);
    if (!rank)
        throw ImportError("a message is of rank " + std::to_string(peer) + " in communicator " +
                          std::to_string(communicator) + ", which is not defined");
    return *rank;
}

/// The call that the thread is in, in one way: the first one that is told.
void ProcessEvents::approximate(std::string_view how)
{
    if (Open* const open = innermost_call(); open && open->approximation.empty())
        open->approximation = how;
}

void ProcessEvents::send(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint32_t receiver,
                         OTF2_CommRef communicator, uint32_t tag, uint64_t size)
{
    const Open* const open = innermost_call();
    const bool fits = open && sends(*open->facts) && !open->state.has("toRank");
    if (State* const call = begin_message("Send", time_of(ticks), fits)) {
        put_peer(*call, "toRank", "toTag", communicator, receiver, tag);
        put(*call, fits ? open->facts->sent_size : "size", bytes(size));
    }
}

void ProcessEvents::receive(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint32_t sender,
                            OTF2_CommRef communicator, uint32_t tag, uint64_t size)
{
    const Open* const open = innermost_call();
    const bool fits = open && receives(*open->facts) && !starts(*open->facts) && !open->state.has("fromRank");
    if (State* const call = begin_message("Recv", time_of(ticks), fits)) {
        put_peer(*call, "fromRank", "fromTag", communicator, sender, tag);
        put(*call, fits ? open->facts->received_size : "size", bytes(size));
    }
}

std::int64_t ProcessEvents::rid_of(State& call, uint64_t request)
{
    auto rid = call.integer("rid"); // of the other side of an operation that sends and receives
    if (!rid) {
        rid = m_next_rid++;
        put(call, "rid", *rid);
    }
    m_rids[request] = *rid;
    return *rid;
}

void ProcessEvents::start_send(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint32_t receiver,
                               OTF2_CommRef communicator, uint32_t tag, uint64_t size, uint64_t request)
{
    const Open* const open = innermost_call();
    const bool fits = open && sends(*open->facts) && starts(*open->facts) && !open->state.has("toRank");
    if (State* const call = begin_message("Isend", time_of(ticks), fits)) {
        put_peer(*call, "toRank", "toTag", communicator, receiver, tag);
        rid_of(*call, request);
        put(*call, fits ? open->facts->sent_size : "size", bytes(size));
    }
}

void ProcessEvents::start_receive(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint64_t request)
{
    const Outcomes::Received received = m_next_receive < m_location_outcomes->receives.size()
                                            ? m_location_outcomes->receives[m_next_receive++]
                                            : Outcomes::Received();
    const Open* const open = innermost_call();
    const bool fits = open && receives(*open->facts) && starts(*open->facts) &&
                      (!open->state.has("rid") || sends(*open->facts));
    if (State* const call = begin_message("Irecv", time_of(ticks), fits)) {
        if (const auto cid = cid_of(received.communicator); cid && !call->has("cid"))
            put(*call, "cid", *cid);
        rid_of(*call, request);
        if (received.communicator != OTF2_UNDEFINED_COMM) // how much there was room for is not told
            put(*call, fits ? open->facts->received_size : "size", bytes(received.size));
    }
}

/// The child of the call that the thread is in which says that the request is complete. Null if there is
/// none.
Element* ProcessEvents::completion(uint64_t request)
{
    Open* const open = innermost_call();
    const auto found = m_rids.extract(request);
    if (open == nullptr || found.empty()) {
        m_import.account.dropped(open == nullptr ? "completions outside of calls of MPI"
                                                 : "completions of requests that were not started");
        return nullptr;
    }
    for (Element& child : open->state.children)
        if (child.integer("rid") == found.mapped())
            return &child;
    Element& child = open->state.children.emplace_back(Element{"For", {}});
    put(child, "rid", found.mapped());
    return &child;
}

void ProcessEvents::complete_send(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint64_t request)
{
    time_of(ticks);
    completion(request);
}

void ProcessEvents::complete_receive(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint32_t sender,
                                     OTF2_CommRef communicator, uint32_t tag, uint64_t size, uint64_t request)
{
    time_of(ticks);
    if (!m_rids.contains(request)) // its start is not told
        return receive(ticks, nullptr, sender, communicator, tag, size);
    Element* const child = completion(request);
    if (child == nullptr)
        return;
    put(*child, "fromRank", peer_of(communicator, sender));
    put(*child, "fromTag", signed_tag(tag));
    put(*child, "size", bytes(size));
}

void ProcessEvents::test(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint64_t request)
{
    time_of(ticks);
    Open* const open = innermost_call();
    const auto found = m_rids.find(request);
    if (open == nullptr || found == m_rids.end())
        return;
    Element& child = open->state.children.emplace_back(Element{"Pending", {}});
    put(child, "rid", found->second);
}

void ProcessEvents::cancel(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint64_t request)
{
    time_of(ticks);
    if (Element* const child = completion(request))
        put(*child, "cancelled", 1);
}

// --- collective operations ---

void ProcessEvents::put_collective(State& call, const CallFacts& facts, const CollectiveEvent& event,
                                   Open& open)
{
    const Communicator* const communicator = m_definitions.communicator(event.communicator);
    const auto cid = cid_of(event.communicator);
    if (!cid)
        return;
    std::optional<std::int64_t> root;
    if (facts.has_root && event.root < OTF2_COLLECTIVE_ROOT_THIS_GROUP)
        root = rank_in(event.communicator, event.root);
    if (root)
        put(call, "rootRank", *root);
    if (root && (facts.gathers || facts.scatters))
        put(call, "root", *root);
    if (!call.has("cid"))
        put(call, "cid", *cid);
    if (communicator->groups.size() > 1 || facts.has_root != root.has_value()) {
        open.approximation = unknown_volume;
        return;
    }
    CollectiveVolume volume{event.sent, event.received, 1, 0, root == m_rank};
    if (!communicator->is_self) {
        const std::vector<std::int64_t>& ranks = communicator->groups[0];
        volume.members = std::ssize(ranks);
        volume.me = std::ranges::find(ranks, m_rank) - ranks.begin();
    }
    if (!put_volume(call, facts, volume, m_writer.counts))
        open.approximation = unknown_volume;
}

void ProcessEvents::collective(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_CollectiveOp,
                               OTF2_CommRef communicator, uint32_t root, uint64_t sent, uint64_t received)
{
    time_of(ticks);
    Open* const open = innermost_call();
    if (open == nullptr)
        return m_import.account.dropped("collective operations outside of calls of MPI");
    put_collective(open->state, *open->facts, {communicator, root, sent, received}, *open);
}

void ProcessEvents::start_collective(OTF2_TimeStamp ticks, OTF2_AttributeList*, uint64_t request)
{
    time_of(ticks);
    Open* const open = innermost_call();
    const CollectiveEvent event = m_next_collective < m_location_outcomes->collectives.size()
                                      ? m_location_outcomes->collectives[m_next_collective++]
                                      : CollectiveEvent();
    if (open == nullptr)
        return m_import.account.dropped("collective operations outside of calls of MPI");
    put_collective(open->state, *open->facts, event, *open);
    rid_of(open->state, request);
}

void ProcessEvents::complete_collective(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_CollectiveOp,
                                        OTF2_CommRef, uint32_t, uint64_t, uint64_t, uint64_t request)
{
    time_of(ticks);
    completion(request);
}

// --- counters ---

void ProcessEvents::describe_counter(const MetricMember& member, OTF2_MetricScope scope)
{
    if (!m_described_names.insert("counter " + member.name).second)
        return;
    InfoText line("Counter");
    line.text("name", member.name).text("type", member.type == OTF2_TYPE_DOUBLE ? "float" : "integer");
    if (!member.unit.empty())
        line.text("unit", member.unit);
    line.text("scope", scope_of(scope));
    if (const std::string_view valid = validity_of(member.mode); !valid.empty())
        line.text("valid", valid);
    if (!member.description.empty())
        line.text("description", member.description);
    m_process.write(line);
}

void ProcessEvents::count(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_MetricRef ref, uint8_t number,
                          const OTF2_Type* types, const OTF2_MetricValue* values)
{
    write_markers(ticks);
    const std::int64_t time = time_of(ticks);
    const Metric* const metric = m_definitions.metric(ref);
    for (std::size_t i = 0; i < number; ++i) {
        const MetricMember* const member =
            metric && i < metric->members.size() ? m_definitions.member(metric->members[i]) : nullptr;
        const auto value = value_of(types[i], values[i]);
        if (member == nullptr || member->name.empty() || !value) {
            m_import.account.dropped("values of metrics that are not defined, or too large");
            continue;
        }
        describe_counter(*member, metric->scope);
        State event = event_of(member->name, "count", time);
        event.attributes.push_back("value", *value);
        write_event(std::move(event));
    }
}

// --- one-sided communication ---

void ProcessEvents::put_target(OTF2_RmaWinRef window, uint32_t target, uint64_t size, std::string_view name)
{
    Open* const open = innermost_call();
    if (open == nullptr || open->facts->access == WindowAccess::none || open->state.has(name))
        return;
    const Communicator* const communicator = m_definitions.communicator_of_window(window);
    if (communicator && communicator->groups.size() == 1 && target < communicator->groups[0].size())
        put(open->state, name, communicator->groups[0][target]);
    put(open->state, "size", bytes(size));
    open->approximation = without_window;
}

void ProcessEvents::put_data(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_RmaWinRef window,
                             uint32_t target, uint64_t size, uint64_t)
{
    time_of(ticks);
    put_target(window, target, size, "toRank");
}

void ProcessEvents::get_data(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_RmaWinRef window,
                             uint32_t target, uint64_t size, uint64_t)
{
    time_of(ticks);
    put_target(window, target, size, "fromRank");
}

// What is compared is sent, too; calls do not count it.
void ProcessEvents::change_data(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_RmaWinRef window,
                                uint32_t target, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                uint64_t)
{
    time_of(ticks);
    put_target(window, target, type == OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP ? sent / 2 : sent, "toRank");
    Open* const open = innermost_call();
    if (open && open->facts->access == WindowAccess::get_accumulate && !open->state.has("recvSize"))
        put(open->state, "recvSize", bytes(received));
}

// --- files ---

std::optional<std::int64_t> ProcessEvents::fid_of(OTF2_IoHandleRef handle)
{
    const std::string* const name = m_definitions.file(handle);
    if (name == nullptr || name->empty())
        return std::nullopt;
    const auto [place, is_new] = m_fids.try_emplace(*name, std::ssize(m_fids));
    if (is_new)
        m_process.write(InfoText("File").text("name", *name).number("id", place->second));
    return place->second;
}

void ProcessEvents::open_file(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_IoHandleRef handle,
                              OTF2_IoAccessMode mode, OTF2_IoCreationFlag, OTF2_IoStatusFlag)
{
    time_of(ticks);
    Open* const open = innermost_call();
    if (open == nullptr || open->facts->makes != ObjectKind::file || open->state.has("fid"))
        return;
    if (const auto fid = fid_of(handle)) {
        if (const auto cid = cid_of(m_definitions.communicator_of_file(handle)))
            put(open->state, "cid", *cid);
        put(open->state, "fid", *fid);
        open->state.attributes.push_back("amode", mode == OTF2_IO_ACCESS_MODE_READ_ONLY    ? "RDONLY"
                                                  : mode == OTF2_IO_ACCESS_MODE_WRITE_ONLY ? "WRONLY"
                                                                                           : "RDWR");
    }
}

void ProcessEvents::close_file(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_IoHandleRef handle)
{
    time_of(ticks);
    Open* const open = innermost_call();
    if (open == nullptr || open->facts->frees != ObjectKind::file || open->state.has("fid"))
        return;
    if (const auto fid = fid_of(handle))
        put(open->state, "fid", *fid);
}

void ProcessEvents::access_file(OTF2_TimeStamp ticks, OTF2_AttributeList* attributes, OTF2_IoHandleRef handle,
                                OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t size,
                                uint64_t id)
{
    time_of(ticks);
    Open* const open = innermost_call();
    if (open == nullptr || open->facts->file == FileAccess::none)
        return m_import.account.dropped("accesses to files outside of calls of MPI");
    if (open->state.has("fid"))
        return;
    if (const auto fid = fid_of(handle))
        put(open->state, "fid", *fid);
    if (mode == OTF2_IO_OPERATION_MODE_FLUSH)
        return;
    if (starts(*open->facts)) {
        m_access_rids[id] = m_next_rid;
        put(open->state, "rid", m_next_rid++);
    }
    uint64_t offset = 0;
    if (OTF2_AttributeList_TestAttributeByID(attributes, m_definitions.offset_attribute()) &&
        OTF2_AttributeList_GetUint64(attributes, m_definitions.offset_attribute(), &offset) == OTF2_SUCCESS)
        put(open->state, "offset", bytes(offset));
    put(open->state, "size", bytes(size));
    m_access_sizes[id] = size;
    static_cast<void>(flags);
}

void ProcessEvents::complete_access(OTF2_TimeStamp ticks, OTF2_AttributeList*, OTF2_IoHandleRef,
                                    uint64_t size, uint64_t id)
{
    time_of(ticks);
    Open* const open = innermost_call();
    const auto asked = m_access_sizes.extract(id);
    const auto rid = m_access_rids.extract(id);
    if (open == nullptr || asked.empty())
        return;
    Element* element = &open->state;
    if (!rid.empty()) {
        element = &open->state.children.emplace_back(Element{"For", {}});
        put(*element, "rid", rid.mapped());
    }
    if (size != asked.mapped())
        put(*element, "actual", bytes(size));
}

} // namespace hdtrace::importer::otf2
