#include "hdtrace/checking/waiting_epochs.h"

#include <algorithm>
#include <limits>

#include "hdtrace/checking/access_target.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

constexpr std::int64_t last_rank = std::numeric_limits<std::int64_t>::max();

bool is_exclusive(const State& lock)
{
    return lock.find("lockType") == "MPI_LOCK_EXCLUSIVE";
}

Wait for_all(std::set<std::int64_t> ranks)
{
    return {WaitCondition::Of::all, {{WaitCondition::Of::all, std::move(ranks)}}};
}

} // namespace

void WaitingEpochs::add(const Call& call)
{
    const WindowSynchronisation does = call.facts.synchronisation;
    if ((does == WindowSynchronisation::none && call.facts.access == WindowAccess::none) ||
        call.is_inside_call || call.has_failed())
        return;
    const std::int64_t rank = call.trace.rank;
    const Window* const window = m_objects.window(rank, call.state);
    if (!window)
        return;
    if (does == WindowSynchronisation::none) {
        if (!call.state.is_unfinished())
            access(call, *window);
        return;
    }
    Epochs& epochs = m_epochs[{window, rank}];
    if (does == WindowSynchronisation::start || does == WindowSynchronisation::post)
        begin(call, *window, epochs);
    else if (!call.state.is_unfinished())
        synchronise(call, *window, epochs);
}

void WaitingEpochs::access(const Call& call, const Window& window)
{
    if (Lock* const lock = lock_of(call.trace.rank, window, target_of_access(call.state)))
        lock->has_accesses = true;
}

void WaitingEpochs::synchronise(const Call& call, const Window& window, Epochs& epochs)
{
    const std::int64_t rank = call.trace.rank;
    const auto target = call.state.integer("toRank"); // none: of all
    switch (call.facts.synchronisation) {
    case WindowSynchronisation::lock:
        if (!target) {
            m_have_locked_all[&window].insert(rank);
            return;
        }
        // That of its own window a process has when it returns: it may load and store then.
        m_locks[{&window, *target}][rank] = {is_exclusive(call.state), *target == rank};
        epochs.locked.insert(*target);
        return;
    case WindowSynchronisation::unlock:
        if (!target) {
            m_have_locked_all[&window].erase(rank);
            return;
        }
        m_locks[{&window, *target}].erase(rank);
        epochs.locked.erase(*target);
        return;
    case WindowSynchronisation::flush:
    case WindowSynchronisation::flush_local:
        for (const std::int64_t locked : target ? std::set<std::int64_t>{*target} : epochs.locked)
            flush(rank, window, locked);
        return;
    case WindowSynchronisation::complete:
        for (const std::int64_t started : std::exchange(epochs.targets, {}))
            ++m_counts[{&window, rank, started}].completes;
        return;
    default:
        return;
    }
}

void WaitingEpochs::flush(std::int64_t rank, const Window& window, std::int64_t target)
{
    if (Lock* const lock = lock_of(rank, window, target))
        lock->is_had = lock->is_had || lock->has_accesses;
}

WaitingEpochs::Lock* WaitingEpochs::lock_of(std::int64_t rank, const Window& window, std::int64_t target)
{
    const auto locks = m_locks.find({&window, target});
    if (locks == m_locks.end())
        return nullptr;
    const auto lock = locks->second.find(rank);
    return lock == locks->second.end() ? nullptr : &lock->second;
}

void WaitingEpochs::begin(const Call& call, const Window& window, Epochs& epochs)
{
    const std::int64_t rank = call.trace.rank;
    const std::vector<std::int64_t> ranks = ranks_in(call.state, window);
    std::set<std::int64_t> group(ranks.begin(), ranks.end());
    if (call.facts.synchronisation == WindowSynchronisation::start) {
        for (const std::int64_t target : group)
            ++m_counts[{&window, rank, target}].starts;
        epochs.targets = std::move(group);
    } else {
        for (const std::int64_t origin : group)
            ++m_counts[{&window, origin, rank}].posts;
        epochs.origins = std::move(group);
    }
}

Wait WaitingEpochs::wait_of(std::int64_t rank, const State& unfinished, const CallFacts& facts) const
{
    const Window* const window = m_objects.window(rank, unfinished);
    if (!window || !m_epochs.contains({window, rank}))
        return {};
    const Member waiting{window, rank};
    const auto target = unfinished.integer("toRank");
    switch (facts.synchronisation) {
    case WindowSynchronisation::lock:
        return for_all(holders_before(waiting, unfinished));
    case WindowSynchronisation::unlock:
    case WindowSynchronisation::flush:
    case WindowSynchronisation::flush_local:
        return target ? for_all(certain_holders_before(waiting, *target)) : Wait();
    case WindowSynchronisation::start:
    case WindowSynchronisation::complete:
        return for_all(without_post(waiting));
    case WindowSynchronisation::wait:
        return for_all(without_complete(waiting));
    default:
        return {};
    }
}

/// A library that waits in Win_lock had let others have their locks when theirs returned.
std::set<std::int64_t> WaitingEpochs::holders_before(const Member& waiting, const State& lock) const
{
    const auto& [window, rank] = waiting;
    const bool wants_all_for_itself = is_exclusive(lock);
    const auto target = lock.integer("toRank"); // none: of all
    std::set<std::int64_t> holders;
    if (const auto all = m_have_locked_all.find(window);
        wants_all_for_itself && all != m_have_locked_all.end())
        holders = all->second;
    const auto end = m_locks.upper_bound({window, target.value_or(last_rank)});
    for (auto locks = m_locks.lower_bound({window, target.value_or(0)}); locks != end; ++locks)
        for (const auto& [holder, held] : locks->second)
            if (held.is_exclusive || wants_all_for_itself)
                holders.insert(holder);
    holders.erase(rank);
    return holders;
}

/// Where Win_lock returned before this process had the lock.
std::set<std::int64_t> WaitingEpochs::certain_holders_before(const Member& waiting, std::int64_t target) const
{
    const auto& [window, rank] = waiting;
    const auto locks = m_locks.find({window, target});
    if (locks == m_locks.end())
        return {};
    const auto own = locks->second.find(rank);
    if (own == locks->second.end() || own->second.is_had)
        return {};
    std::set<std::int64_t> holders;
    for (const auto& [holder, held] : locks->second)
        if (holder != rank && held.is_had && (held.is_exclusive || own->second.is_exclusive))
            holders.insert(holder);
    return holders;
}

std::set<std::int64_t> WaitingEpochs::without_post(const Member& origin) const
{
    std::set<std::int64_t> ranks;
    for (const std::int64_t target : m_epochs.at(origin).targets) {
        const Counts counts = counts_of(*origin.first, origin.second, target);
        if (counts.posts < counts.starts)
            ranks.insert(target);
    }
    return ranks;
}

std::set<std::int64_t> WaitingEpochs::without_complete(const Member& target) const
{
    std::set<std::int64_t> ranks;
    for (const std::int64_t origin : m_epochs.at(target).origins) {
        const Counts counts = counts_of(*target.first, origin, target.second);
        if (counts.completes < counts.posts)
            ranks.insert(origin);
    }
    return ranks;
}

WaitingEpochs::Counts WaitingEpochs::counts_of(const Window& window, std::int64_t origin,
                                               std::int64_t target) const
{
    const auto found = m_counts.find({&window, origin, target});
    return found == m_counts.end() ? Counts() : found->second;
}

} // namespace hdtrace
