#include "hdtrace/explaining/window_epochs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {

void WindowEpochs::add(const Call& call, StepId step)
{
    if (call.facts.synchronisation == WindowSynchronisation::none || call.has_failed() ||
        call.state.is_unfinished())
        return;
    const std::int64_t rank = call.trace.rank;
    const Window* const window = m_objects.window(rank, call.state);
    if (!window)
        return;
    switch (call.facts.synchronisation) {
    case WindowSynchronisation::start:
        for (const std::int64_t target : m_targets[{window, rank}] = ranks_in(call.state, *window))
            m_calls[{window, rank, target}].starts.push_back(step);
        break;
    case WindowSynchronisation::complete:
        for (const std::int64_t target : std::exchange(m_targets[{window, rank}], {}))
            m_calls[{window, rank, target}].completes.push_back(step);
        break;
    case WindowSynchronisation::post:
        for (const std::int64_t origin : m_origins[{window, rank}] = ranks_in(call.state, *window))
            m_calls[{window, origin, rank}].posts.push_back(step);
        break;
    case WindowSynchronisation::test:
        if (call.state.integer("flag") == 0)
            break;
        [[fallthrough]];
    case WindowSynchronisation::wait:
        for (const std::int64_t origin : std::exchange(m_origins[{window, rank}], {}))
            m_calls[{window, origin, rank}].waits.push_back(step);
        break;
    case WindowSynchronisation::lock:
        add_lock(call, window, step);
        break;
    case WindowSynchronisation::unlock:
        add_unlock(call, window, step);
        break;
    case WindowSynchronisation::flush:
    case WindowSynchronisation::flush_local:
        add_flush(call, window, step);
        break;
    default:
        break;
    }
}

void WindowEpochs::add_lock(const Call& call, const Window* window, StepId step)
{
    const auto target = call.state.integer("toRank");
    const auto type = call.state.find("lockType");
    if (!target || !type) // of all targets, which is shared
        return;
    std::vector<Lock>& locks = m_locks[{window, *target}];
    m_held[{window, call.trace.rank, *target}] = locks.size();
    locks.push_back({.lock = step, .is_exclusive = *type == "MPI_LOCK_EXCLUSIVE"});
}

void WindowEpochs::add_unlock(const Call& call, const Window* window, StepId step)
{
    const auto target = call.state.integer("toRank");
    if (!target)
        return;
    if (const auto held = m_held.extract({window, call.trace.rank, *target})) {
        Lock& lock = m_locks[{window, *target}][held.mapped()];
        lock.unlock = step;
        lock.next = lock.next.value_or(step);
    }
}

void WindowEpochs::add_flush(const Call& call, const Window* window, StepId step)
{
    const auto target = call.state.integer("toRank"); // none: of all targets
    const Access first{window, call.trace.rank, target.value_or(std::numeric_limits<std::int64_t>::min())};
    const Access last{window, call.trace.rank, target.value_or(std::numeric_limits<std::int64_t>::max())};
    for (auto held = m_held.lower_bound(first); held != m_held.end() && held->first <= last; ++held) {
        Lock& lock = m_locks[{window, std::get<2>(held->first)}][held->second];
        lock.next = lock.next.value_or(step);
    }
}

void WindowEpochs::add_needs(History& history) const
{
    for (const auto& [access, calls] : m_calls) {
        if (m_beginnings.is_missing(std::get<1>(access), std::get<2>(access)))
            add_needs_of(from_same_epoch(access, calls, history), history);
        else
            add_needs_of(calls, history);
    }
    for (const auto& [target, locks] : m_locks)
        add_needs_of(locks, history);
}

// The calls from the first epoch on of which all are there, and none if that is not known.
WindowEpochs::Calls WindowEpochs::from_same_epoch(const Access& access, const Calls& calls,
                                                  const History& history) const
{
    const auto& [window, origin, target] = access;
    const auto accessed_from = m_beginnings.complete_from(origin);
    const auto exposed_from = m_beginnings.complete_from(target);
    if (!accessed_from || !exposed_from)
        return {};
    Calls kept = calls;
    const auto keep_from = [&](std::vector<StepId>& steps, std::int64_t time) {
        std::erase_if(steps, [&](StepId step) { return history.step(step).begin < time; });
    };
    keep_from(kept.starts, *accessed_from);
    keep_from(kept.completes, *accessed_from);
    keep_from(kept.posts, *exposed_from);
    keep_from(kept.waits, *exposed_from);
    const std::size_t count =
        std::min({kept.starts.size(), kept.completes.size(), kept.posts.size(), kept.waits.size()});
    for (std::vector<StepId>* const steps : {&kept.starts, &kept.completes, &kept.posts, &kept.waits})
        steps->erase(steps->begin(), steps->end() - static_cast<std::ptrdiff_t>(count));
    return kept;
}

// MPI libraries may let the start return before the target has posted; then the end of the epoch waits for
// it.
void WindowEpochs::add_needs_of(const Calls& calls, History& history)
{
    const std::size_t exposed = std::min(calls.posts.size(), calls.starts.size());
    for (std::size_t i = 0; i < exposed; ++i) {
        if (history.step(calls.starts[i]).end >= history.step(calls.posts[i]).begin)
            history.needs.push_back({calls.starts[i], calls.posts[i], WaitKind::late_post});
        else if (i < calls.completes.size())
            history.needs.push_back({calls.completes[i], calls.posts[i], WaitKind::late_post});
    }
    for (std::size_t i = 0; i < std::min(calls.waits.size(), calls.completes.size()); ++i)
        history.needs.push_back({calls.waits[i], calls.completes[i], WaitKind::early_wait});
}

void WindowEpochs::add_needs_of(const std::vector<Lock>& locks, History& history)
{
    LockPointers given_up;
    for (const Lock& lock : locks)
        if (lock.unlock)
            given_up.push_back(&lock);
    std::ranges::stable_sort(given_up, {},
                             [&](const Lock* lock) { return history.step(*lock->unlock).begin; });
    for (const Lock& lock : locks) {
        StepId waiting = lock.lock;
        const Lock* before = held_before(lock, waiting, given_up, history);
        if (!before && lock.next) {
            waiting = *lock.next;
            before = held_before(lock, waiting, given_up, history);
        }
        if (before)
            history.needs.push_back({waiting, *before->unlock, WaitKind::lock_contention});
    }
}

// Of those who held the lock when the call began, the last one to give it up before the call ended; null if
// there is none.
const WindowEpochs::Lock* WindowEpochs::held_before(const Lock& lock, StepId waiting,
                                                    const LockPointers& given_up, const History& history)
{
    const auto given_up_at = [&](const Lock* one) { return history.step(*one->unlock).begin; };
    const Step call = history.step(waiting);
    auto behind = std::ranges::upper_bound(given_up, call.end, {}, given_up_at);
    while (behind != given_up.begin() && given_up_at(*(behind - 1)) > call.begin) {
        const Lock& before = **--behind;
        const bool excludes = before.is_exclusive || lock.is_exclusive;
        // Otherwise it is the other one that waits.
        const bool is_over_before =
            !lock.unlock || history.step(*before.unlock).end <= history.step(*lock.unlock).end;
        if (&before != &lock && excludes && is_over_before && history.step(before.lock).end <= call.end)
            return &before;
    }
    return nullptr;
}

} // namespace hdtrace
