#include "hdtrace/checking/window_check.h"

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/access_target.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

bool asserts(const State& call, std::string_view what)
{
    const auto assertion = call.find("assert");
    return assertion && assertion->find(what) != std::string::npos;
}

/// Those of other worlds are not known by their numbers.
std::set<std::int64_t> targets_in(const State& call, std::size_t process_count)
{
    const std::vector<std::int64_t> ranks = ranks_in(call, static_cast<std::int64_t>(process_count));
    return {ranks.begin(), ranks.end()};
}

} // namespace

void WindowCheck::leave(const Call& call)
{
    if (call.facts.life == LifeCycle::ends && !call.state.is_unfinished())
        m_ended.insert(call.trace.rank);
    const auto wid = call.state.integer("wid");
    const bool is_of_window = call.facts.access != WindowAccess::none ||
                              call.facts.synchronisation != WindowSynchronisation::none ||
                              call.facts.frees == ObjectKind::window;
    if (!wid || *wid < 0 || !is_of_window || call.is_inside_call)
        return;
    Epochs& epochs = m_windows[{call.trace.rank, *wid}];
    if (call.facts.access != WindowAccess::none)
        access(call, epochs);
    else if (call.facts.frees == ObjectKind::window)
        close(call, epochs);
    else
        synchronise(call, epochs);
}

void WindowCheck::report(FindingKind kind, const Call& call, const std::string& text,
                         const CallSite* other_site)
{
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(kind, place, call.state.name + at(place.site) + " " + text, other_site);
    if (call.state.is_unfinished())
        m_endings.explain(call.trace.rank);
}

void WindowCheck::access(const Call& call, Epochs& epochs)
{
    const std::int64_t target = target_of_access(call.state);
    if (target == -2) // nobody
        return;
    if (epochs.locked.contains(target) || epochs.locked_all)
        return access_locked(target, epochs);
    if (call.facts.progress == CallProgress::starts)
        return report(FindingKind::epoch_missing, call,
                      "accesses rank " + std::to_string(target) + ", which is not locked");
    if (epochs.started) {
        if (target >= 0 && !epochs.targets.empty() && !epochs.targets.contains(target))
            report(FindingKind::epoch_missing, call,
                   "accesses rank " + std::to_string(target) + ", which is not in the group of Win_start" +
                       at(epochs.started->site),
                   epochs.started->site);
        return;
    }
    if (!epochs.has_fence) {
        report(FindingKind::epoch_missing, call,
               "accesses rank " + std::to_string(target) + " outside an epoch");
        return;
    }
    access_fenced(call, target, epochs);
}

/// Fences are collective: between those of the same number the origin and the target are in one epoch.
void WindowCheck::access_fenced(const Call& call, std::int64_t target, Epochs& epochs)
{
    epochs.has_access_since_fence = true;
    epochs.last_access = place_of(m_findings.objects(), call);
    const bool changes = call.facts.access != WindowAccess::get && call.state.find("op") != "MPI_NO_OP";
    if (const CallPlace* const promise = changes ? no_put_at(call, target, epochs.fences) : nullptr)
        report(FindingKind::window_assertion_broken, call,
               "changes memory of rank " + std::to_string(target) + ", which promised MPI_MODE_NOPUT" +
                   at(promise->site),
               promise->site);
}

/// The fence of that number there, for the same window, if it promised that nobody changes the memory.
const CallPlace* WindowCheck::no_put_at(const Call& call, std::int64_t rank, std::int64_t fence) const
{
    const Window* const window = m_findings.objects().window(call.trace.rank, call.state);
    const Window::Member* const member = window ? window->member(rank) : nullptr;
    if (!member || !member->wid)
        return nullptr;
    const auto there = m_windows.find({rank, *member->wid});
    if (there == m_windows.end())
        return nullptr;
    const auto promise = there->second.no_put.find(fence);
    return promise == there->second.no_put.end() ? nullptr : &promise->second;
}

/// If a fence comes behind it, too, the two enclose an epoch (MPI 4.1, 12.5.1).
void WindowCheck::access_locked(std::int64_t target, Epochs& epochs)
{
    if (epochs.may_last && !epochs.lock_inside)
        epochs.lock_inside = epochs.locked_all ? *epochs.locked_all : epochs.locked.at(target);
}

void WindowCheck::synchronise(const Call& call, Epochs& epochs)
{
    switch (call.facts.synchronisation) {
    case WindowSynchronisation::fence:
        return fence(call, epochs);
    case WindowSynchronisation::start:
        open(call, epochs.started, "an access epoch for a group");
        epochs.targets = targets_in(call.state, m_findings.project().project.process_count);
        return;
    case WindowSynchronisation::complete:
        return end(call, epochs.started, "Win_start");
    case WindowSynchronisation::post:
        return open(call, epochs.posted, "an exposure epoch for a group");
    case WindowSynchronisation::wait:
        return end(call, epochs.posted, "Win_post");
    case WindowSynchronisation::test:
        if (!epochs.posted || call.state.integer("flag").value_or(0) != 0)
            end(call, epochs.posted, "Win_post");
        return;
    case WindowSynchronisation::lock:
        return lock(call, epochs);
    case WindowSynchronisation::unlock:
        return unlock(call, epochs);
    case WindowSynchronisation::flush:
    case WindowSynchronisation::flush_local:
        if (epochs.locked.empty() && !epochs.locked_all)
            report(FindingKind::epoch_missing, call, "completes accesses, but the window is not locked");
        return;
    default:
        return;
    }
}

void WindowCheck::fence(const Call& call, Epochs& epochs)
{
    const auto excluded = [&](const CallPlace& place, const std::string& what) {
        report(FindingKind::epoch_opened_twice, call,
               "begins an epoch within that of " + what + at(place.site), place.site);
    };
    if (!epochs.locked.empty())
        excluded(epochs.locked.begin()->second, "Win_lock");
    else if (epochs.locked_all)
        excluded(*epochs.locked_all, "Win_lock_all");
    else if (epochs.started)
        excluded(*epochs.started, "Win_start");
    else if (epochs.posted)
        excluded(*epochs.posted, "Win_post");
    else if (epochs.lock_inside && !asserts(call.state, "NOPRECEDE"))
        m_findings.report(FindingKind::epoch_opened_twice, *epochs.lock_inside,
                          "the lock" + at(epochs.lock_inside->site) +
                              " begins an epoch between two fences that enclose its accesses");
    if (epochs.has_access_since_fence && asserts(call.state, "NOPRECEDE"))
        report(FindingKind::window_assertion_broken, call,
               "promises MPI_MODE_NOPRECEDE, but completes the access" + at(epochs.last_access.site),
               epochs.last_access.site);
    ++epochs.fences;
    constexpr std::int64_t most_ahead = 2; // of who still accesses
    epochs.no_put.erase(epochs.no_put.begin(), epochs.no_put.upper_bound(epochs.fences - most_ahead));
    if (asserts(call.state, "NOPUT"))
        epochs.no_put.emplace(epochs.fences, place_of(m_findings.objects(), call));
    epochs.lock_inside.reset();
    epochs.may_last = epochs.has_fence = !asserts(call.state, "NOSUCCEED");
    epochs.has_access_since_fence = false;
}

void WindowCheck::open(const Call& call, std::optional<CallPlace>& opened, const std::string& what)
{
    if (opened)
        report(FindingKind::epoch_opened_twice, call,
               "begins " + what + ", but one is open" + (opened->site ? ", begun" + at(opened->site) : ""),
               opened->site);
    opened = place_of(m_findings.objects(), call);
}

void WindowCheck::end(const Call& call, std::optional<CallPlace>& open, const std::string& by)
{
    if (!open)
        report(FindingKind::epoch_missing, call, "ends an epoch that no " + by + " began");
    open.reset();
}

void WindowCheck::lock(const Call& call, Epochs& epochs)
{
    const CallPlace place = place_of(m_findings.objects(), call);
    const auto target = call.state.integer("toRank");
    const auto twice = [&](const CallPlace& before) {
        report(FindingKind::epoch_opened_twice, call, "locks what was locked" + at(before.site), before.site);
    };
    if (epochs.locked_all)
        twice(*epochs.locked_all);
    else if (target ? epochs.locked.contains(*target) : !epochs.locked.empty())
        twice(target ? epochs.locked.at(*target) : epochs.locked.begin()->second);
    else if (epochs.started)
        twice(*epochs.started);
    else if (epochs.has_access_since_fence)
        report(FindingKind::epoch_opened_twice, call,
               "begins an epoch, but no Win_fence completes the access" + at(epochs.last_access.site),
               epochs.last_access.site);
    epochs.has_fence = epochs.has_access_since_fence = false;
    if (target)
        epochs.locked.insert_or_assign(*target, place);
    else
        epochs.locked_all = place;
}

void WindowCheck::unlock(const Call& call, Epochs& epochs)
{
    const auto target = call.state.integer("toRank");
    const bool was_locked = target ? epochs.locked.erase(*target) > 0 : epochs.locked_all.has_value();
    if (!target)
        epochs.locked_all.reset();
    if (!was_locked)
        report(FindingKind::epoch_missing, call, "unlocks what is not locked");
}

void WindowCheck::close(const Call& call, Epochs& epochs)
{
    const auto is_open = [&](const CallPlace& place, const std::string& by) {
        report(FindingKind::epoch_not_closed, call, "frees the window in the epoch of " + by + at(place.site),
               place.site);
    };
    if (!epochs.locked.empty())
        is_open(epochs.locked.begin()->second, "Win_lock");
    else if (epochs.locked_all)
        is_open(*epochs.locked_all, "Win_lock_all");
    else if (epochs.started)
        is_open(*epochs.started, "Win_start");
    else if (epochs.posted)
        is_open(*epochs.posted, "Win_post");
    else if (epochs.has_access_since_fence)
        report(FindingKind::epoch_not_closed, call,
               "frees the window, but no Win_fence completes the access" + at(epochs.last_access.site),
               epochs.last_access.site);
    epochs = {};
}

void WindowCheck::finish()
{
    const std::map<std::int64_t, CallPlace> none;
    for (const auto& [id, epochs] : m_windows)
        for (const auto& [target, place] : m_ended.contains(id.first) ? epochs.locked : none)
            m_findings.report(FindingKind::epoch_not_closed, place,
                              "the lock of rank " + std::to_string(target) + at(place.site) +
                                  " was never unlocked");
}

} // namespace hdtrace
