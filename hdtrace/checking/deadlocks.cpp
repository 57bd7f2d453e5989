#include "hdtrace/checking/deadlocks.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_shown = 8;

std::map<std::int64_t, Wait> waits_of(const std::map<std::int64_t, WaitingCall>& waiting)
{
    std::map<std::int64_t, Wait> waits;
    for (const auto& [rank, call] : waiting)
        waits.emplace(rank, call.wait);
    return waits;
}

bool is_for_any(const WaitingCall& call)
{
    return std::ranges::any_of(call.wait.conditions, [](const WaitCondition& condition) {
        return condition.of == WaitCondition::Of::any && condition.size() > 1;
    });
}

/// "rank 0 waits in Recv fromRank=1 at main (a.c:7) for rank 1"
std::string wait_text(const WaitingProcess& process)
{
    return "rank " + std::to_string(process.place.rank) + " waits in " + process.call +
           at(process.place.site) + text_of(process.operations) + " for " +
           (process.is_for_any ? "any of " : "") + ranks_text(process.awaited, process.awaited_count);
}

/// The ranks in several conditions, of which many processes share the largest: the first ones, and how many
/// there are.
struct Awaited {
    std::set<std::int64_t> first = {};
    std::size_t count = 0;
};

Awaited awaited_in(const std::vector<WaitCondition>& conditions)
{
    constexpr std::size_t most = WaitingProcess::most_awaited;
    const WaitCondition& largest = *std::ranges::max_element(conditions, {}, &WaitCondition::size);
    Awaited awaited;
    for (const WaitCondition& condition : conditions)
        if (&*condition.ranks != &*largest.ranks || condition.except != largest.except)
            std::ranges::copy_if(
                *condition.ranks, std::inserter(awaited.first, awaited.first.end()),
                [&](std::int64_t rank) { return condition.has(rank) && !largest.has(rank); });
    awaited.count = awaited.first.size() + largest.size();
    for (const std::int64_t rank : *largest.ranks | std::views::take(most + 1)) // one may be left out
        if (largest.has(rank))
            awaited.first.insert(rank);
    if (awaited.first.size() > most)
        awaited.first.erase(std::next(awaited.first.begin(), most), awaited.first.end());
    return awaited;
}

class Finder {
  public:
    Finder(const std::map<std::int64_t, WaitingCall>& waiting, const std::set<std::int64_t>& ended)
        : m_waiting(waiting), m_ended(ended), m_stuck(find_stuck(waits_of(waiting), ended))
    {
        for (const auto& [rank, awaited] : m_stuck.awaited) {
            for (const WaitCondition& condition : awaited) {
                const auto [group, is_new] = m_waiters.try_emplace(&*condition.ranks);
                group->second.push_back(rank);
                if (is_new)
                    for (const std::int64_t member : *condition.ranks)
                        m_groups_with[member].push_back(&*condition.ranks);
            }
        }
    }

    std::vector<Deadlock> find()
    {
        std::set<std::int64_t> rest = m_stuck.all;
        std::vector<Deadlock> found;
        std::ranges::sort(m_stuck.circles);
        for (const Circle& circle : m_stuck.circles) {
            const std::set<std::int64_t> behind = behind_of(circle);
            std::vector<WaitingProcess> processes;
            for (const std::int64_t rank : circle)
                processes.push_back(process(rank, true));
            const std::string text = circle_text(processes, behind);
            for (const std::int64_t rank : behind)
                processes.push_back(process(rank, false));
            for (const WaitingProcess& one : processes)
                rest.erase(one.place.rank);
            found.push_back({text + doubt_text(circle), std::move(processes), doubtful_of(circle).empty()});
        }
        for (const std::int64_t rank : rest)
            if (waits_for_ended_only(rank))
                found.push_back({wait_text(process(rank, false)) + ", which ended" + doubt_text({rank}),
                                 {process(rank, false)},
                                 doubtful_of({rank}).empty()});
        return found;
    }

  private:
    bool waits_for_ended_only(std::int64_t rank) const
    {
        return std::ranges::all_of(m_stuck.awaited.at(rank), [&](const WaitCondition& condition) {
            return std::ranges::all_of(*condition.ranks, [&](std::int64_t awaited) {
                return awaited == condition.except || m_ended.contains(awaited);
            });
        });
    }

    WaitingProcess process(std::int64_t rank, bool is_in_circle) const
    {
        const WaitingCall& call = m_waiting.at(rank);
        Awaited awaited = awaited_in(m_stuck.awaited.at(rank));
        return {{rank, call.thread, call.line, call.site},
                call.text,
                call.operations,
                std::move(awaited.first),
                awaited.count,
                is_for_any(call),
                is_in_circle,
                call.polls};
    }

    /// Those who wait for the circle, directly or by others.
    std::set<std::int64_t> behind_of(const Circle& circle) const
    {
        std::set<std::int64_t> behind;
        std::set<const SharedRanks::Ranks*> seen;
        std::vector<std::int64_t> asked(circle.begin(), circle.end());
        while (!asked.empty()) {
            const auto groups = m_groups_with.find(asked.back());
            asked.pop_back();
            if (groups == m_groups_with.end())
                continue;
            for (const SharedRanks::Ranks* const group : groups->second) {
                if (!seen.insert(group).second)
                    continue;
                for (const std::int64_t rank : m_waiters.at(group))
                    if (!circle.contains(rank) && behind.insert(rank).second)
                        asked.push_back(rank);
            }
        }
        return behind;
    }

    Circle doubtful_of(const Circle& circle) const { return those_of(circle, &WaitingCall::may_do_more); }

    Circle those_of(const Circle& circle, bool WaitingCall::*what) const
    {
        Circle found;
        for (const std::int64_t rank : circle)
            if (m_waiting.at(rank).*what)
                found.insert(rank);
        return found;
    }

    std::string doubt_text(const Circle& circle) const
    {
        if (const Circle doubtful = doubtful_of(circle); !doubtful.empty())
            return "; " + ranks_text(doubtful) + " may compute between polls, and go on then";
        const Circle polling = those_of(circle, &WaitingCall::polls);
        if (polling.empty())
            return "";
        return "; " + ranks_text(polling) + (polling.size() == 1 ? " polls" : " poll") +
               ", and may give that up";
    }

    static std::string circle_text(const std::vector<WaitingProcess>& circle,
                                   const std::set<std::int64_t>& behind)
    {
        std::string text;
        std::size_t shown = 0;
        for (const WaitingProcess& process : circle) {
            if (shown++ == most_shown) {
                text += "; and " + std::to_string(circle.size() - most_shown) + " more in this circle";
                break;
            }
            text += (text.empty() ? "" : "; ") + wait_text(process);
        }
        return behind.empty() ? text
                              : text + "; " + ranks_text(behind) + (behind.size() == 1 ? " waits" : " wait") +
                                    " for them";
    }

    const std::map<std::int64_t, WaitingCall>& m_waiting;
    const std::set<std::int64_t>& m_ended;
    StuckProcesses m_stuck;
    /// Those that can never go on and wait for ranks which they share, and of each rank where it is among
    /// them.
    std::unordered_map<const SharedRanks::Ranks*, std::vector<std::int64_t>> m_waiters;
    std::unordered_map<std::int64_t, std::vector<const SharedRanks::Ranks*>> m_groups_with;
};

} // namespace

std::string ranks_text(const std::set<std::int64_t>& ranks, std::size_t count)
{
    count = std::max(count, ranks.size());
    std::string text = count == 1 ? "rank" : "ranks";
    std::size_t shown = 0;
    for (const std::int64_t rank : ranks) {
        if (shown++ == most_shown)
            return text + " and " + std::to_string(count - most_shown) + " more";
        text += (shown == 1 ? " " : ", ") + std::to_string(rank);
    }
    return text;
}

std::vector<Deadlock> find_deadlocks(const std::map<std::int64_t, WaitingCall>& waiting,
                                     const std::set<std::int64_t>& ended)
{
    return Finder(waiting, ended).find();
}

} // namespace hdtrace
