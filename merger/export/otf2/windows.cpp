#include "merger/export/otf2/windows.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <string>

namespace hdtrace::exporter::otf2 {

namespace {

constexpr std::int64_t nobody = -2;  // MPI_PROC_NULL
constexpr std::int64_t unknown = -4; // a process of another world

enum class Direction { put, get, atomic };

struct Access {
    std::string_view call;
    Direction direction;
    OTF2_RmaAtomicType atomic = OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
};

constexpr Access accesses[] = {
    {"Put", Direction::put},
    {"Rput", Direction::put},
    {"Get", Direction::get},
    {"Rget", Direction::get},
    {"Accumulate", Direction::atomic},
    {"Raccumulate", Direction::atomic},
    {"Get_accumulate", Direction::atomic, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {"Rget_accumulate", Direction::atomic, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {"Fetch_and_op", Direction::atomic, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {"Compare_and_swap", Direction::atomic, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP},
};

/// Calls that all processes of the window make.
struct CollectiveAction {
    std::string_view call;
    OTF2_CollectiveOp operation;
    OTF2_RmaSyncLevel level;
};

constexpr OTF2_RmaSyncLevel processes_and_memory = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

constexpr CollectiveAction collective_actions[] = {
    {"Win_create", OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS},
    {"Win_create_dynamic", OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS},
    {"Win_allocate", OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE, OTF2_RMA_SYNC_LEVEL_PROCESS},
    {"Win_allocate_shared", OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE, OTF2_RMA_SYNC_LEVEL_PROCESS},
    {"Win_fence", OTF2_COLLECTIVE_OP_BARRIER, processes_and_memory},
    {"Win_free", OTF2_COLLECTIVE_OP_DESTROY_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS},
};

/// Calls that complete operations, according to MPI 4.0, 12.5.
struct Synchronisation {
    std::string_view call;
    bool reaches_target; ///< whether the origin knows that the target has them
    bool ends_epoch;     ///< whether no later call of the origin completes them
};

constexpr Synchronisation synchronisations[] = {
    {"Win_fence", false, true},     {"Win_complete", false, true},     {"Win_unlock", true, true},
    {"Win_unlock_all", true, true}, {"Win_flush", true, false},        {"Win_flush_all", true, false},
    {"Win_free", false, true},      {"Win_flush_local", false, false}, {"Win_flush_local_all", false, false},
};

template <class Row, std::size_t count> const Row* find_row(const Row (&rows)[count], std::string_view call)
{
    const auto found = std::ranges::find(rows, call, &Row::call);
    return found == std::end(rows) ? nullptr : found;
}

OTF2_TimeStamp begin_of(const State& call)
{
    return static_cast<OTF2_TimeStamp>(call.time);
}

OTF2_TimeStamp end_of(const State& call)
{
    return static_cast<OTF2_TimeStamp>(call.end);
}

std::uint64_t bytes(const Element& call, std::string_view name)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, call.integer(name).value_or(0)));
}

bool names_target(const Element& call)
{
    return call.find("toRank") != nullptr || call.find("fromRank") != nullptr;
}

std::int64_t target_rank(const Element& call)
{
    return call.integer("toRank").value_or(call.integer("fromRank").value_or(unknown));
}

/// For what MPI_Fetch_and_op does OTF2 has own names.
OTF2_RmaAtomicType atomic_type(const Element& call, const Access& access)
{
    const std::string* operation = call.find("op");
    if (call.name != "Fetch_and_op" || operation == nullptr)
        return access.atomic;
    if (*operation == "MPI_SUM")
        return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD;
    return *operation == "MPI_REPLACE" ? OTF2_RmaAtomicType{OTF2_RMA_ATOMIC_TYPE_SWAP} : access.atomic;
}

OTF2_LockType lock_type(const Element& call)
{
    const std::string* type = call.find("lockType");
    return type != nullptr && *type == "MPI_LOCK_EXCLUSIVE" ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
}

/// From "0;4..7;"; there are @p count processes.
std::vector<std::uint64_t> ranks_of(const Element& call, std::uint64_t count)
{
    std::vector<std::uint64_t> ranks;
    const std::string* list = call.find("ranks");
    std::string_view rest = list == nullptr ? std::string_view() : *list;
    const auto next_number = [&] {
        std::uint64_t number = 0;
        const char* end = std::from_chars(rest.data(), rest.data() + rest.size(), number).ptr;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return number;
    };
    while (!rest.empty()) {
        const std::uint64_t first = next_number();
        const bool is_range = rest.starts_with("..");
        rest.remove_prefix(is_range ? 2 : 0);
        const std::uint64_t last = is_range ? next_number() : first;
        for (std::uint64_t rank = first; rank <= last && rank < count; ++rank)
            ranks.push_back(rank);
        rest.remove_prefix(std::min(rest.size(), std::size_t{1}));
    }
    return ranks;
}

using AttributeList = std::unique_ptr<OTF2_AttributeList, decltype(&OTF2_AttributeList_Delete)>;

/// Bytes that a displacement counts in at a target.
std::optional<std::int64_t> displacement_unit(const Window& window, std::int64_t rank)
{
    const auto target = std::ranges::find(window.members, rank, &Window::Member::global);
    return target == window.members.end() ? std::nullopt : target->disp_unit;
}

AttributeList target_offset(std::optional<std::int64_t> displacement, std::optional<std::int64_t> unit)
{
    AttributeList attributes(OTF2_AttributeList_New(), OTF2_AttributeList_Delete);
    if (displacement && unit)
        check(OTF2_AttributeList_AddUint64(attributes.get(), target_offset_attribute,
                                           static_cast<std::uint64_t>(*displacement) *
                                               static_cast<std::uint64_t>(*unit)));
    return attributes;
}

} // namespace

Recorded WindowEvents::begin(const State& call, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    WindowState* window = window_of(call);
    if (window == nullptr || lacks_target(call, *window))
        return window != nullptr && target_rank(call) == nobody ? Recorded::all : Recorded::nothing;
    if (find_row(accesses, call.name) != nullptr)
        issue(call, *window, begin_of(call));
    if (find_row(collective_actions, call.name) != nullptr)
        check(OTF2_EvtWriter_RmaCollectiveBegin(m_writer, nullptr, begin_of(call)));
    if (call.name == "Win_free")
        check(OTF2_EvtWriter_RmaWinDestroy(m_writer, nullptr, begin_of(call), window->ref));
    if (call.name == "Win_start")
        window->accessed = m_definitions.group(ranks_of(call, m_definitions.process_count()));
    if (call.name == "Win_post")
        window->exposed = m_definitions.group(ranks_of(call, m_definitions.process_count()));
    if (call.name != "Win_lock" && call.name != "Win_lock_all")
        return Recorded::all;
    begin_lock(call, *window);
    return Recorded::with_assumed_lock;
}

void WindowEvents::finish(const State& call, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    WindowState* window = window_of(call);
    if (window == nullptr || lacks_target(call, *window))
        return;
    synchronise(call, *window);
    finish_lock(call, *window);
    finish_epoch(call, *window);
    finish_collective(call, *window);
    if (call.name == "Win_sync")
        check(OTF2_EvtWriter_RmaSync(m_writer, nullptr, end_of(call), window->ref,
                                     m_definitions.local_rank(window->communicator, m_rank).value_or(0),
                                     OTF2_RMA_SYNC_TYPE_MEMORY));
}

Recorded WindowEvents::start(const Operation& operation, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    const Element& call = operation.call;
    WindowState* window = window_of(call);
    if (window == nullptr || find_row(accesses, call.name) == nullptr || lacks_target(call, *window))
        return window != nullptr && target_rank(call) == nobody ? Recorded::all : Recorded::nothing;
    const std::uint64_t id = issue(call, *window, static_cast<OTF2_TimeStamp>(operation.time));
    m_requested[operation.rid] = {window, *target_of(call, *window), id};
    return Recorded::all;
}

bool WindowEvents::complete(const Completion& completion, OTF2_EvtWriter* writer)
{
    const auto found = m_requested.extract(completion.rid);
    if (!found)
        return false;
    const auto& [window, target, id] = found.mapped();
    Target& pending = window->targets.at(target);
    if (completion.outcome != Outcome::completed || pending.issued.erase(id) == 0)
        return true; // a call for all operations of the window completes it, or has done so
    check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(
        writer, nullptr, static_cast<OTF2_TimeStamp>(completion.end), window->ref, id));
    pending.complete_here.insert(id);
    return true;
}

WindowEvents::WindowState* WindowEvents::window_of(const Element& call)
{
    const Window* window = m_objects.window(m_rank, call);
    const Definitions::WindowDefinition* definition = m_definitions.window(window);
    if (definition == nullptr)
        return nullptr;
    const auto known =
        m_windows.try_emplace(window, WindowState{definition->ref, definition->communicator, window}).first;
    return &known->second;
}

std::optional<std::uint32_t> WindowEvents::target_of(const Element& call, const WindowState& window) const
{
    return m_definitions.local_rank(window.communicator, target_rank(call));
}

bool WindowEvents::lacks_target(const Element& call, const WindowState& window) const
{
    const bool needs_one = names_target(call) || find_row(accesses, call.name) != nullptr;
    return needs_one && !target_of(call, window);
}

std::uint64_t WindowEvents::issue(const Element& call, WindowState& window, OTF2_TimeStamp when)
{
    const std::uint32_t target = *target_of(call, window);
    const Access* access = find_row(accesses, call.name);
    const std::uint64_t id = m_next_id++, size = bytes(call, "size");
    const auto [place, is_new] = window.targets.try_emplace(target);
    if (is_new)
        place->second.displacement_unit = displacement_unit(*window.window, target_rank(call));
    const AttributeList attributes =
        target_offset(call.integer("targetOffset"), place->second.displacement_unit);
    if (access->direction == Direction::put) {
        check(OTF2_EvtWriter_RmaPut(m_writer, attributes.get(), when, window.ref, target, size, id));
    } else if (access->direction == Direction::get) {
        check(OTF2_EvtWriter_RmaGet(m_writer, attributes.get(), when, window.ref, target, size, id));
    } else {
        const OTF2_RmaAtomicType type = atomic_type(call, *access);
        const bool fetches = type != OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
        const bool compares = type == OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP; // with a value that is sent, too
        const std::uint64_t fetched = call.find("recvSize") ? bytes(call, "recvSize") : size;
        check(OTF2_EvtWriter_RmaAtomic(m_writer, attributes.get(), when, window.ref, target, type,
                                       compares ? 2 * size : size, fetches ? fetched : 0, id));
    }
    place->second.issued.insert(id);
    return id;
}

void WindowEvents::begin_lock(const State& call, const WindowState& window) const
{
    check(OTF2_EvtWriter_RmaRequestLock(m_writer, nullptr, begin_of(call), window.ref,
                                        target_of(call, window).value_or(OTF2_UNDEFINED_UINT32), 0,
                                        lock_type(call)));
}

void WindowEvents::finish_lock(const State& call, const WindowState& window) const
{
    const std::uint32_t target = target_of(call, window).value_or(OTF2_UNDEFINED_UINT32);
    if (call.name == "Win_lock" || call.name == "Win_lock_all")
        check(OTF2_EvtWriter_RmaAcquireLock(m_writer, nullptr, end_of(call), window.ref, target, 0,
                                            lock_type(call)));
    else if (call.name == "Win_unlock" || call.name == "Win_unlock_all")
        check(OTF2_EvtWriter_RmaReleaseLock(m_writer, nullptr, end_of(call), window.ref, target, 0));
}

void WindowEvents::finish_epoch(const State& call, WindowState& window) const
{
    const bool opens = call.name == "Win_start" || call.name == "Win_post";
    const bool closes = call.name == "Win_complete" || call.name == "Win_wait" ||
                        (call.name == "Win_test" && call.integer("flag").value_or(0) != 0);
    if (!opens && !closes)
        return;
    const bool is_of_origin = call.name == "Win_start" || call.name == "Win_complete";
    std::optional<OTF2_GroupRef>& group = is_of_origin ? window.accessed : window.exposed;
    if (group)
        check(OTF2_EvtWriter_RmaGroupSync(m_writer, nullptr, end_of(call),
                                          opens ? OTF2_RmaSyncLevel{OTF2_RMA_SYNC_LEVEL_NONE}
                                                : OTF2_RmaSyncLevel{OTF2_RMA_SYNC_LEVEL_MEMORY},
                                          window.ref, *group));
    if (closes)
        group.reset();
}

void WindowEvents::finish_collective(const State& call, WindowState& window) const
{
    const CollectiveAction* action = find_row(collective_actions, call.name);
    if (action == nullptr)
        return;
    OTF2_CollectiveOp operation = action->operation;
    if (call.name == "Win_free" && window.was_allocated)
        operation = OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE;
    const bool makes_window = call.find("cid") != nullptr;
    if (makes_window)
        check(OTF2_EvtWriter_RmaWinCreate(m_writer, nullptr, end_of(call), window.ref));
    window.was_allocated = operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE || window.was_allocated;
    check(OTF2_EvtWriter_RmaCollectiveEnd(m_writer, nullptr, end_of(call), operation, action->level,
                                          window.ref, OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
}

void WindowEvents::synchronise(const State& call, WindowState& window) const
{
    if (find_row(synchronisations, call.name) == nullptr)
        return;
    if (!names_target(call)) {
        for (auto& [ignored, target] : window.targets)
            synchronise(call.name, window, target, end_of(call));
    } else if (const auto found = window.targets.find(*target_of(call, window));
               found != window.targets.end()) {
        synchronise(call.name, window, found->second, end_of(call));
    }
}

void WindowEvents::synchronise(std::string_view call, const WindowState& window, Target& target,
                               OTF2_TimeStamp when) const
{
    const Synchronisation& what = *find_row(synchronisations, call);
    for (const std::uint64_t id : target.issued)
        check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(m_writer, nullptr, when, window.ref, id));
    target.complete_here.merge(target.issued);
    if (what.reaches_target) {
        for (const std::uint64_t id : target.complete_here)
            check(OTF2_EvtWriter_RmaOpCompleteRemote(m_writer, nullptr, when, window.ref, id));
    }
    if (what.reaches_target || what.ends_epoch)
        target.complete_here.clear();
}

} // namespace hdtrace::exporter::otf2
