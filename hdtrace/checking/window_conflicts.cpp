#include "hdtrace/checking/window_conflicts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/access_target.h"
#include "hdtrace/checking/nearest_pairs.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

constexpr std::string_view no_op = "MPI_NO_OP";
constexpr std::size_t most_compared = 100'000'000;
// Of accesses that begin at the same byte each is compared with so many that follow it in time: who is not
// ordered mostly comes soon.
constexpr std::size_t most_at_a_byte = 64;
// Of accesses in an epoch that differ only in when they were issued: whatever is not ordered with the others
// is not ordered with the first one either, nor are the first two with each other.
constexpr std::ptrdiff_t most_alike = 2;

bool only_reads(WindowAccess kind, const std::string& op)
{
    return kind == WindowAccess::get || op == no_op;
}

/// Both at once (MPI 4.1, 12.7.1). Traces may not tell the operation.
bool may_be_combined(const std::string& one, const std::string& other)
{
    return one == other || one == no_op || other == no_op || one.empty() || other.empty();
}

/// Elements of different sizes are not combined with each other (MPI 4.1, 12.7.1).
bool have_other_elements(const auto& one, const auto& other)
{
    return one.element > 0 && other.element > 0 && one.element != other.element;
}

/// Of which each element is combined as a whole, whoever does it.
bool is_atomic(WindowAccess kind)
{
    return kind != WindowAccess::put && kind != WindowAccess::get;
}

/// And says what was there before.
bool fetches(WindowAccess kind)
{
    return is_atomic(kind) && kind != WindowAccess::accumulate;
}

} // namespace

void WindowConflicts::enter(const Call& call)
{
    if (call.is_inside_call || call.has_failed() || call.state.is_unfinished())
        return;
    if (call.facts.access == WindowAccess::none && !m_memory.empty())
        access_locally(call);
    if (call.facts.access == WindowAccess::none && call.facts.synchronisation == WindowSynchronisation::none)
        return;
    const Window* window = m_findings.objects().window(call.trace.rank, call.state);
    if (!window)
        return;
    const std::int64_t target = target_of_access(call.state);
    if (call.facts.access == WindowAccess::none)
        synchronise(call, *window);
    else if (target >= 0) {
        access(call, *window, target);
        follow_atomic(call);
    }
}

void WindowConflicts::leave(const Call& call)
{
    if (call.is_inside_call)
        return;
    if (!call.has_failed() && !call.state.is_unfinished())
        learn_memory(call);
    const auto local = m_in_call.find({call.trace.rank, call.trace.thread});
    if (local == m_in_call.end())
        return;
    const Moment issued = m_order.step(call.trace.rank);
    for (LocalAccess& access : local->second)
        add_local(std::move(access), issued);
    m_in_call.erase(local);
}

/// Of dynamic windows places are addresses (MPI 4.1, 12.2.4).
void WindowConflicts::learn_memory(const Call& call)
{
    std::vector<std::string_view> items = items_of(call.state, "window");
    const bool frees = call.facts.frees == ObjectKind::window && !m_memory.empty();
    if (items.empty() && !frees)
        return;
    const Window* const window = m_findings.objects().window(call.trace.rank, call.state);
    std::vector<OwnMemory>& all = m_memory[call.trace.rank];
    if (frees)
        std::erase_if(all, [&](const OwnMemory& memory) { return memory.window == window; });
    for (std::string_view item : items) {
        const std::int64_t begin = take_number(item), size = take_number(item);
        constexpr std::int64_t most = TypeMap::most_bytes; // places beyond come from damaged traces
        if (window && begin > 0 && begin < most && size > 0 && size < most)
            all.push_back(
                {window, {begin, begin + size, {}}, call.facts.makes == ObjectKind::window ? begin : 0});
    }
}

void WindowConflicts::access_locally(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    const auto memory = m_memory.find(rank);
    if (!names_buffers(call.state) || call.facts.progress == CallProgress::prepares ||
        memory == m_memory.end())
        return;
    std::vector<LocalAccess> accesses;
    for (const CallBuffer& buffer : m_buffers.of(call))
        for (const OwnMemory& own : memory->second)
            if (overlap(own.range, buffer))
                accesses.push_back(local_access(call, own, buffer));
    if (accesses.empty())
        return;
    const Moment begun = m_order.step(rank);
    for (LocalAccess& local : accesses)
        local.access.done = begun;
    const auto rid = call.facts.progress == CallProgress::starts ? call.state.integer("rid") : std::nullopt;
    (rid ? m_in_flight[{rank, *rid}] : m_in_call[{rank, call.trace.thread}]) = std::move(accesses);
}

WindowConflicts::LocalAccess WindowConflicts::local_access(const Call& call, const OwnMemory& memory,
                                                           const CallBuffer& buffer)
{
    Access access;
    access.begin = buffer.begin - memory.origin;
    access.end = buffer.end - memory.origin;
    for (const auto& [begin, end] : buffer.pieces)
        access.pieces.emplace_back(begin - memory.origin, end - memory.origin);
    access.kind = buffer.is_written ? WindowAccess::put : WindowAccess::get;
    access.time = call.state.time;
    access.name = call.state.name;
    access.place = place_of(m_findings.objects(), call);
    set_lock(*memory.window, call.trace.rank, access);
    return {{memory.window, call.trace.rank}, std::move(access)};
}

/// Of those that are alike the first one, and in the place of all others the last one.
void WindowConflicts::add_local(LocalAccess local, Moment issued)
{
    local.access.issued = issued;
    const Access& access = local.access;
    const bool is_written = access.kind == WindowAccess::put;
    std::vector<Access>& accesses = m_accesses[local.target];
    const auto [known, is_new] =
        m_local.try_emplace({local.target,
                             is_written,
                             access.is_locked,
                             access.is_exclusive,
                             {local.target.second, access.begin, access.end, access.place.site}},
                            FirstAndLast{accesses.size(), accesses.size()});
    FirstAndLast& alike = known->second;
    if (!is_new && alike.last != alike.first) {
        accesses[alike.last] = std::move(local.access);
        return;
    }
    alike.last = accesses.size();
    accesses.push_back(std::move(local.access));
}

void WindowConflicts::access(const Call& call, const Window& window, std::int64_t target)
{
    const std::int64_t rank = call.trace.rank;
    Epochs& epochs = m_epochs[{&window, rank}];
    Access access;
    access.kind = call.facts.access;
    if (const auto op = call.state.find("op"))
        access.op = *op;
    set_range(call, window, target, access);
    if (access.begin >= access.end)
        return;
    access.waits_for_exposure = epochs.has_started;
    access.rid = call.state.integer("rid").value_or(-1);
    access.time = call.state.time;
    access.name = call.state.name;
    access.place = place_of(m_findings.objects(), call);
    set_lock(window, target, access);
    std::vector<Access>& accesses = m_accesses[{&window, target}];
    std::vector<std::size_t>& open = epochs.open[{target, access.begin, access.end, access.place.site}];
    const auto is_like_it = [&](std::size_t place) { return are_alike(accesses[place], access); };
    if (access.rid < 0 && std::ranges::count_if(open, is_like_it) >= most_alike)
        return;
    access.issued = m_order.step(rank);
    if (access.rid >= 0 && access.kind == WindowAccess::get)
        m_with_request.insert_or_assign({rank, access.rid},
                                        std::pair(Target{&window, target}, accesses.size()));
    open.push_back(accesses.size());
    accesses.push_back(std::move(access));
}

void WindowConflicts::follow_atomic(const Call& call)
{
    if (!is_atomic(call.facts.access))
        return;
    Atomics& atomics = m_atomics[call.trace.rank];
    atomics.last = m_order.last_step(call.trace.rank);
    if (!atomics.first_fetch && fetches(call.facts.access))
        atomics.first_fetch = atomics.last;
}

/// As its origin holds it now.
void WindowConflicts::set_lock(const Window& window, std::int64_t target, Access& access)
{
    constexpr std::int64_t all = -1;
    const std::map<std::int64_t, bool>& locked = m_epochs[{&window, access.place.rank}].locked;
    const auto lock = locked.find(target);
    access.is_exclusive = lock != locked.end() && lock->second;
    access.is_locked = lock != locked.end() || locked.contains(all);
}

bool WindowConflicts::are_alike(const Access& one, const Access& other)
{
    return one.rid < 0 && other.rid < 0 && one.kind == other.kind && one.op == other.op &&
           one.is_locked == other.is_locked && one.is_exclusive == other.is_exclusive &&
           one.element == other.element && one.pieces == other.pieces;
}

/// Which bytes of the target's part are accessed.
void WindowConflicts::set_range(const Call& call, const Window& window, std::int64_t target, Access& access)
{
    const Window::Member* member = window.member(target);
    const auto offset = call.state.integer("targetOffset");
    const auto type = call.state.integer("targetTid").value_or(call.state.integer("tid").value_or(-1));
    const std::int64_t count = call.state.integer("targetCount").value_or(1);
    if (!member || !offset || count <= 0)
        return;
    const MappedType* const mapped = m_buffers.type(call.trace.rank, type);
    if (!mapped || mapped->map->size() == 0)
        return;
    access.element = element_of(call.trace.rank, type);
    const std::int64_t origin = *offset * member->disp_unit.value_or(1);
    access.begin = origin + mapped->map->begin();
    access.end = origin + (count - 1) * mapped->extent + mapped->map->end();
    if (mapped->map->is_ascending() && access.end - access.begin == count * mapped->map->size())
        return;
    access.pieces = pieces_of(*mapped, origin, count);
}

std::int64_t WindowConflicts::element_of(std::int64_t rank, std::int64_t type)
{
    const TypeSignature* const signature = m_signatures.find(rank, type);
    if (!signature || signature->empty())
        return 0;
    const std::int64_t size = signature->front().size;
    const auto is_other = [&](const BasicTypes& types) { return types.size != size; };
    return std::ranges::any_of(*signature, is_other) ? 0 : size;
}

void WindowConflicts::synchronise(const Call& call, const Window& window)
{
    const std::int64_t rank = call.trace.rank;
    Epochs& epochs = m_epochs[{&window, rank}];
    const std::int64_t target = call.state.integer("toRank").value_or(-1);
    switch (call.facts.synchronisation) {
    case WindowSynchronisation::lock:
        if (const auto type = call.state.find("lockType"))
            epochs.locked[target] = *type == "MPI_LOCK_EXCLUSIVE";
        return;
    case WindowSynchronisation::fence:
    case WindowSynchronisation::flush:
        return complete(rank, window, target, false);
    case WindowSynchronisation::flush_local:
        return complete_gets(rank, window, target);
    case WindowSynchronisation::unlock:
        complete(rank, window, target, false);
        epochs.locked.erase(target);
        return;
    default:
        return expose(call, window, epochs);
    }
}

/// Epochs for groups: an access happens behind Win_post, whenever Win_start returned, and before Win_wait.
void WindowConflicts::expose(const Call& call, const Window& window, Epochs& epochs)
{
    const std::int64_t rank = call.trace.rank;
    const auto process_count = static_cast<std::int64_t>(m_findings.project().project.process_count);
    switch (call.facts.synchronisation) {
    case WindowSynchronisation::post:
        epochs.posted = ranks_in(call.state, process_count);
        for (const std::int64_t origin : epochs.posted)
            m_exposures[{&window, origin, rank}].posted.push_back(m_order.step(rank));
        return;
    case WindowSynchronisation::start:
        epochs.started = ranks_in(call.state, process_count);
        epochs.has_started = true;
        return;
    case WindowSynchronisation::complete:
        for (const std::int64_t target : epochs.started)
            m_exposures[{&window, rank, target}].begun.push_back(m_order.step(rank));
        complete(rank, window, -1, true);
        for (const std::int64_t target : epochs.started)
            m_exposures[{&window, rank, target}].ended.push_back(m_order.step(rank));
        epochs.has_started = false;
        return;
    case WindowSynchronisation::test:
        if (call.state.integer("flag") == 0)
            return;
        [[fallthrough]];
    case WindowSynchronisation::wait:
        for (const std::int64_t origin : epochs.posted)
            m_exposures[{&window, origin, rank}].waited.push_back(m_order.step(rank));
        return;
    default:
        return;
    }
}

/// The accesses of an origin to a target, or to all of them (-1), are complete there.
void WindowConflicts::complete(std::int64_t rank, const Window& window, std::int64_t target, bool ends_epoch)
{
    Epochs& epochs = m_epochs[{&window, rank}];
    const Moment issued = m_order.step(rank);
    const Moment done = m_order.step(rank);
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    const auto first =
        target == -1 ? epochs.open.begin() : epochs.open.lower_bound({target, lowest, lowest, nullptr});
    auto route = first;
    for (; route != epochs.open.end() && (target == -1 || std::get<0>(route->first) == target); ++route) {
        std::vector<Access>& accesses = m_accesses[{&window, std::get<0>(route->first)}];
        for (const std::size_t place : route->second) {
            Access& access = accesses[place];
            if (ends_epoch && access.waits_for_exposure)
                access.issued = issued;
            if (access.done.step == 0)
                access.done = done;
        }
    }
    epochs.open.erase(first, route);
}

/// What has been got is here: it was read there (MPI 4.1, 12.5.4).
void WindowConflicts::complete_gets(std::int64_t rank, const Window& window, std::int64_t target)
{
    const Moment done = m_order.step(rank);
    for (const auto& [route, places] : m_epochs[{&window, rank}].open) {
        if (target != -1 && std::get<0>(route) != target)
            continue;
        std::vector<Access>& accesses = m_accesses[{&window, std::get<0>(route)}];
        for (const std::size_t place : places)
            if (Access& access = accesses[place]; access.kind == WindowAccess::get && access.done.step == 0)
                access.done = done;
    }
}

/// What has been got is there once its request is complete; of others that only says that the buffer is free.
void WindowConflicts::completed(const Call& call, const Completion& completion)
{
    if (const auto local = m_in_flight.find({call.trace.rank, completion.rid}); local != m_in_flight.end()) {
        std::vector<LocalAccess>& in_call = m_in_call[{call.trace.rank, call.trace.thread}];
        std::ranges::move(local->second, std::back_inserter(in_call));
        m_in_flight.erase(local);
    }
    if (!completion.operation || completion.operation->facts->access != WindowAccess::get)
        return;
    const std::int64_t rank = completion.operation->rank;
    const auto found = m_with_request.extract({rank, completion.rid});
    if (!found)
        return;
    const auto& [target, place] = found.mapped();
    Access& access = m_accesses[target][place];
    if (access.done.step == 0)
        access.done = m_order.step(rank);
}

bool WindowConflicts::conflict(const Access& one, const Access& other)
{
    if (!overlap(one, other))
        return false;
    if (only_reads(one.kind, one.op) && only_reads(other.kind, other.op))
        return false;
    const bool is_same_origin = one.place.rank == other.place.rank;
    if (is_atomic(one.kind) && is_atomic(other.kind) &&
        (is_same_origin || (may_be_combined(one.op, other.op) && !have_other_elements(one, other))))
        return false;
    const bool exclude_each_other =
        one.is_locked && other.is_locked && (one.is_exclusive || other.is_exclusive);
    if (!is_same_origin && exclude_each_other)
        return false; // one after the other, whichever comes first
    return true;
}

void WindowConflicts::add_pairs(const Target& target, std::vector<Access>& accesses)
{
    std::ranges::stable_sort(accesses, {}, &Access::time);
    const auto number_of = [&](const Access& access) {
        return static_cast<std::size_t>(&access - accesses.data());
    };
    NearestPairs nearest;
    std::vector<const Access*> by_place;
    by_place.reserve(accesses.size());
    for (const Access& access : accesses)
        by_place.push_back(&access);
    std::ranges::stable_sort(by_place, {}, &Access::begin);
    auto next_byte = by_place.begin(); // the first access that begins behind it
    for (auto one = by_place.begin(); one != by_place.end(); ++one) {
        while (next_byte != by_place.end() && (*next_byte)->begin == (*one)->begin)
            ++next_byte;
        const auto last_here = one + std::min<std::ptrdiff_t>(most_at_a_byte, next_byte - one - 1);
        for (auto other = one + 1; other != by_place.end() && (*other)->begin < (*one)->end; ++other) {
            if (other > last_here && other < next_byte) {
                other = next_byte - 1;
                continue;
            }
            if (++m_compared > most_compared)
                return m_findings.set_incomplete(FindingKind::rma_conflict);
            if (!conflict(**one, **other))
                continue;
            const auto [earlier, later] = std::minmax(*one, *other);
            const auto numbered = [&](const Access& access) {
                return NearestPairs::Access{number_of(access), access.place.rank, access.place.site,
                                            access.done};
            };
            nearest.add(numbered(*earlier), numbered(*later), 0);
        }
    }
    nearest.for_each([&](std::size_t one, std::size_t other, std::int64_t) {
        add_pair({&accesses[one], &accesses[other], target.first, target.second});
    });
}

void WindowConflicts::add_pair(const Pair& pair)
{
    if (m_limit.add(pair.one->place.site, pair.other->place.site))
        m_pairs.push_back(pair);
    else
        m_findings.set_incomplete(FindingKind::rma_conflict);
}

void WindowConflicts::prepare()
{
    for (const auto& [between, exposure] : m_exposures) {
        for (std::size_t i = 0; i < std::min(exposure.posted.size(), exposure.begun.size()); ++i)
            m_order.add(exposure.posted[i], exposure.begun[i]);
        for (std::size_t i = 0; i < std::min(exposure.ended.size(), exposure.waited.size()); ++i)
            m_order.add(exposure.ended[i], exposure.waited[i]);
    }
    for (auto& [target, accesses] : m_accesses)
        add_pairs(target, accesses);
    for (const Pair& pair : m_pairs) {
        m_order.keep(pair.one->issued);
        m_order.keep(pair.other->issued);
    }
}

bool WindowConflicts::are_ordered(const Pair& pair) const
{
    const auto is_behind = [&](const Access& first, const Access& second) {
        return first.done.step > 0 && m_order.is_before(first.done, second.issued);
    };
    return is_behind(*pair.one, *pair.other) || is_behind(*pair.other, *pair.one);
}

/// What the earlier one has changed atomically behind its access the later one may have found before its own:
/// then it is a lock or a flag.
bool WindowConflicts::may_be_ordered_by_atomics(const Pair& pair) const
{
    const Access &earlier = *pair.one, &later = *pair.other;
    const auto of_earlier = m_atomics.find(earlier.place.rank), of_later = m_atomics.find(later.place.rank);
    if (of_earlier == m_atomics.end() || of_later == m_atomics.end() || of_earlier == of_later)
        return false;
    const auto& found = of_later->second.first_fetch;
    return earlier.done.step > 0 && of_earlier->second.last >= earlier.done && found && *found < later.issued;
}

/// By their ranks.
std::pair<const WindowConflicts::Access*, const WindowConflicts::Access*>
WindowConflicts::sorted(const Pair& pair)
{
    const bool is_sorted = pair.one->issued <= pair.other->issued;
    return is_sorted ? std::pair(pair.one, pair.other) : std::pair(pair.other, pair.one);
}

/// Of calls at the same places those that nothing orders for certain come first.
void WindowConflicts::finish()
{
    std::set<std::pair<const CallSite*, const CallSite*>> told;
    for (const Severity severity : {Severity::error, Severity::warning})
        for (const Pair& pair : m_pairs) {
            if (are_ordered(pair) || may_be_ordered_by_atomics(pair) != (severity == Severity::warning))
                continue;
            const auto [first, second] = sorted(pair);
            if (told.insert({first->place.site, second->place.site}).second)
                report(pair, severity);
        }
}

void WindowConflicts::report(const Pair& pair, Severity severity)
{
    const auto [first, second] = sorted(pair);
    m_findings.report_as(
        severity, FindingKind::rma_conflict, second->place,
        second->name + at(second->place.site) + " of rank " + std::to_string(second->place.rank) + " and " +
            first->name + at(first->place.site) + " of rank " + std::to_string(first->place.rank) +
            " access the same memory of rank " + std::to_string(pair.target) +
            (is_atomic(first->kind) && is_atomic(second->kind) && have_other_elements(*first, *second)
                 ? " as elements of " + std::to_string(second->element) + " and " +
                       std::to_string(first->element) + " bytes"
                 : "") +
            (severity == Severity::error ? ", and nothing orders them"
                                         : ", and nothing but atomic accesses may order them"),
        first->place.site);
}

} // namespace hdtrace
