#include "hdtrace/explaining/window_epochs.h"

#include <algorithm>

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

std::vector<std::int64_t> group_of(const Call& call, const Window& window)
{
    std::int64_t behind = 0;
    for (const Window::Member& member : window.members)
        behind = std::max(behind, member.global + 1);
    return ranks_in(call.state, behind);
}

} // namespace

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
        for (const std::int64_t target : m_targets[{window, rank}] = group_of(call, *window))
            m_calls[{window, rank, target}].starts.push_back(step);
        break;
    case WindowSynchronisation::complete:
        for (const std::int64_t target : std::exchange(m_targets[{window, rank}], {}))
            m_calls[{window, rank, target}].completes.push_back(step);
        break;
    case WindowSynchronisation::post:
        for (const std::int64_t origin : m_origins[{window, rank}] = group_of(call, *window))
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
    locks.push_back({step, {}, *type == "MPI_LOCK_EXCLUSIVE"});
}

void WindowEpochs::add_unlock(const Call& call, const Window* window, StepId step)
{
    const auto target = call.state.integer("toRank");
    if (!target)
        return;
    if (const auto held = m_held.extract({window, call.trace.rank, *target}))
        m_locks[{window, *target}][held.mapped()].unlock = step;
}

void WindowEpochs::add_needs(History& history) const
{
    for (const auto& [access, calls] : m_calls)
        add_needs_of(calls, history);
    for (const auto& [target, locks] : m_locks)
        add_needs_of(locks, history);
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

// Of those who held the lock when it was asked for, the last one to give it up.
void WindowEpochs::add_needs_of(const std::vector<Lock>& locks, History& history)
{
    std::vector<const Lock*> given_up;
    for (const Lock& lock : locks)
        if (lock.unlock)
            given_up.push_back(&lock);
    const auto given_up_at = [&](const Lock* lock) { return history.step(*lock->unlock).begin; };
    std::ranges::stable_sort(given_up, {}, given_up_at);
    for (const Lock& lock : locks) {
        const Step waiting = history.step(lock.lock);
        auto behind = std::ranges::upper_bound(given_up, waiting.end, {}, given_up_at);
        while (behind != given_up.begin() && given_up_at(*(behind - 1)) > waiting.begin) {
            const Lock& before = **--behind;
            if (&before == &lock || !(before.is_exclusive || lock.is_exclusive) ||
                history.step(before.lock).end > waiting.end)
                continue;
            history.needs.push_back({lock.lock, *before.unlock, WaitKind::lock_contention});
            break;
        }
    }
}

} // namespace hdtrace
