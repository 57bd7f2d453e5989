#include "merger/export/otf2/windows.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace::exporter::otf2 {

namespace {

/// Calls that all processes of the window make.
struct CollectiveAction {
    OTF2_CollectiveOp operation;
    OTF2_RmaSyncLevel level;
};

std::optional<CollectiveAction> collective_action(const CallFacts& facts, bool was_allocated)
{
    if (facts.makes == ObjectKind::window)
        return CollectiveAction{facts.allocates
                                    ? OTF2_CollectiveOp{OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE}
                                    : OTF2_CollectiveOp{OTF2_COLLECTIVE_OP_CREATE_HANDLE},
                                OTF2_RMA_SYNC_LEVEL_PROCESS};
    if (facts.frees == ObjectKind::window)
        return CollectiveAction{was_allocated
                                    ? OTF2_CollectiveOp{OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE}
                                    : OTF2_CollectiveOp{OTF2_COLLECTIVE_OP_DESTROY_HANDLE},
                                OTF2_RMA_SYNC_LEVEL_PROCESS};
    if (facts.synchronisation == WindowSynchronisation::fence)
        return CollectiveAction{OTF2_COLLECTIVE_OP_BARRIER,
                                OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY};
    return std::nullopt;
}

/// What a call means for operations that were issued before it, according to MPI 4.0, 12.5.
struct Effect {
    bool reaches_target = false; ///< whether the origin knows that the target has them
    bool ends_epoch = false;     ///< whether no later call of the origin completes them
};

std::optional<Effect> effect_on_operations(const CallFacts& facts)
{
    if (facts.frees == ObjectKind::window)
        return Effect{.ends_epoch = true};
    switch (facts.synchronisation) {
    case WindowSynchronisation::fence:
    case WindowSynchronisation::complete:
        return Effect{.ends_epoch = true};
    case WindowSynchronisation::unlock:
        return Effect{.reaches_target = true, .ends_epoch = true};
    case WindowSynchronisation::flush:
        return Effect{.reaches_target = true};
    case WindowSynchronisation::flush_local:
        return Effect{};
    default:
        return std::nullopt;
    }
}

bool is_access(const CallFacts& facts)
{
    return facts.access != WindowAccess::none;
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
    return call.has("toRank") || call.has("fromRank");
}

std::int64_t target_rank(const Element& call)
{
    return call.integer("toRank").value_or(call.integer("fromRank").value_or(other_world));
}

OTF2_RmaAtomicType atomic_type(const Element& call, WindowAccess access)
{
    switch (access) {
    case WindowAccess::accumulate:
        return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    case WindowAccess::compare_and_swap:
        return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    case WindowAccess::fetch_and_op: // for some of its operations OTF2 has own names
        if (const auto operation = call.find("op")) {
            if (*operation == "MPI_SUM")
                return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD;
            if (*operation == "MPI_REPLACE")
                return OTF2_RMA_ATOMIC_TYPE_SWAP;
        }
        [[fallthrough]];
    default:
        return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
    }
}

OTF2_LockType lock_type(const Element& call)
{
    const auto type = call.find("lockType");
    return type && *type == "MPI_LOCK_EXCLUSIVE" ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
}

std::vector<std::uint64_t> ranks_of(const Element& call, std::uint64_t count)
{
    const auto ranks = ranks_in(call, static_cast<std::int64_t>(count));
    return {ranks.begin(), ranks.end()};
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

Recorded WindowEvents::begin(const Call& call, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    const State& state = call.state;
    WindowState* window = window_of(state);
    if (window == nullptr || lacks_target(state, call.facts, *window))
        return window != nullptr && target_rank(state) == proc_null ? Recorded::all : Recorded::nothing;
    if (is_access(call.facts))
        issue(state, call.facts, *window, begin_of(state));
    if (collective_action(call.facts, window->was_allocated))
        check(OTF2_EvtWriter_RmaCollectiveBegin(m_writer, nullptr, begin_of(state)));
    if (call.facts.frees == ObjectKind::window)
        check(OTF2_EvtWriter_RmaWinDestroy(m_writer, nullptr, begin_of(state), window->ref));
    if (call.facts.synchronisation == WindowSynchronisation::start)
        window->accessed = m_definitions.group(ranks_of(state, m_definitions.process_count()));
    if (call.facts.synchronisation == WindowSynchronisation::post)
        window->exposed = m_definitions.group(ranks_of(state, m_definitions.process_count()));
    if (call.facts.synchronisation != WindowSynchronisation::lock)
        return Recorded::all;
    begin_lock(state, *window);
    return Recorded::with_assumed_lock;
}

void WindowEvents::finish(const Call& call, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    const State& state = call.state;
    WindowState* window = window_of(state);
    if (window == nullptr || lacks_target(state, call.facts, *window))
        return;
    synchronise(call, *window);
    finish_lock(call, *window);
    finish_epoch(call, *window);
    finish_collective(call, *window);
    if (call.facts.synchronisation == WindowSynchronisation::memory)
        check(OTF2_EvtWriter_RmaSync(m_writer, nullptr, end_of(state), window->ref,
                                     m_definitions.local_rank(window->communicator, m_rank).value_or(0),
                                     OTF2_RMA_SYNC_TYPE_MEMORY));
}

Recorded WindowEvents::start(const Operation& operation, OTF2_EvtWriter* writer)
{
    m_writer = writer;
    const Element& call = *operation.call;
    WindowState* window = window_of(call);
    if (window == nullptr || lacks_target(call, *operation.facts, *window))
        return window != nullptr && target_rank(call) == proc_null ? Recorded::all : Recorded::nothing;
    const std::uint64_t id =
        issue(call, *operation.facts, *window, static_cast<OTF2_TimeStamp>(operation.time));
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

bool WindowEvents::lacks_target(const Element& call, const CallFacts& facts, const WindowState& window) const
{
    const bool needs_one = names_target(call) || is_access(facts);
    return needs_one && !target_of(call, window);
}

std::uint64_t WindowEvents::issue(const Element& call, const CallFacts& facts, WindowState& window,
                                  OTF2_TimeStamp when)
{
    const std::uint32_t target = *target_of(call, window);
    const std::uint64_t id = m_next_id++, size = bytes(call, "size");
    const auto [place, is_new] = window.targets.try_emplace(target);
    if (is_new)
        place->second.displacement_unit = displacement_unit(*window.window, target_rank(call));
    const AttributeList attributes =
        target_offset(call.integer("targetOffset"), place->second.displacement_unit);
    if (facts.access == WindowAccess::put) {
        check(OTF2_EvtWriter_RmaPut(m_writer, attributes.get(), when, window.ref, target, size, id));
    } else if (facts.access == WindowAccess::get) {
        check(OTF2_EvtWriter_RmaGet(m_writer, attributes.get(), when, window.ref, target, size, id));
    } else {
        const OTF2_RmaAtomicType type = atomic_type(call, facts.access);
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

void WindowEvents::finish_lock(const Call& call, const WindowState& window) const
{
    const std::uint32_t target = target_of(call.state, window).value_or(OTF2_UNDEFINED_UINT32);
    if (call.facts.synchronisation == WindowSynchronisation::lock)
        check(OTF2_EvtWriter_RmaAcquireLock(m_writer, nullptr, end_of(call.state), window.ref, target, 0,
                                            lock_type(call.state)));
    else if (call.facts.synchronisation == WindowSynchronisation::unlock)
        check(OTF2_EvtWriter_RmaReleaseLock(m_writer, nullptr, end_of(call.state), window.ref, target, 0));
}

void WindowEvents::finish_epoch(const Call& call, WindowState& window) const
{
    using Synchronisation = WindowSynchronisation;
    const Synchronisation what = call.facts.synchronisation;
    const bool opens = what == Synchronisation::start || what == Synchronisation::post;
    const bool closes = what == Synchronisation::complete || what == Synchronisation::wait ||
                        (what == Synchronisation::test && call.state.integer("flag").value_or(0) != 0);
    if (!opens && !closes)
        return;
    const bool is_of_origin = what == Synchronisation::start || what == Synchronisation::complete;
    std::optional<OTF2_GroupRef>& group = is_of_origin ? window.accessed : window.exposed;
    if (group)
        check(OTF2_EvtWriter_RmaGroupSync(m_writer, nullptr, end_of(call.state),
                                          opens ? OTF2_RmaSyncLevel{OTF2_RMA_SYNC_LEVEL_NONE}
                                                : OTF2_RmaSyncLevel{OTF2_RMA_SYNC_LEVEL_MEMORY},
                                          window.ref, *group));
    if (closes)
        group.reset();
}

void WindowEvents::finish_collective(const Call& call, WindowState& window) const
{
    const std::optional<CollectiveAction> action = collective_action(call.facts, window.was_allocated);
    if (!action)
        return;
    if (call.facts.makes == ObjectKind::window)
        check(OTF2_EvtWriter_RmaWinCreate(m_writer, nullptr, end_of(call.state), window.ref));
    window.was_allocated = window.was_allocated || call.facts.allocates;
    check(OTF2_EvtWriter_RmaCollectiveEnd(m_writer, nullptr, end_of(call.state), action->operation,
                                          action->level, window.ref, OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
}

void WindowEvents::synchronise(const Call& call, WindowState& window) const
{
    if (!effect_on_operations(call.facts))
        return;
    if (!names_target(call.state)) {
        for (auto& [ignored, target] : window.targets)
            synchronise(call.facts, window, target, end_of(call.state));
    } else if (const auto found = window.targets.find(*target_of(call.state, window));
               found != window.targets.end()) {
        synchronise(call.facts, window, found->second, end_of(call.state));
    }
}

void WindowEvents::synchronise(const CallFacts& facts, const WindowState& window, Target& target,
                               OTF2_TimeStamp when) const
{
    const Effect what = *effect_on_operations(facts);
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
