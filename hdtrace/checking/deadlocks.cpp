#include "hdtrace/checking/deadlocks.h"

#include <algorithm>
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
        return condition.of == WaitCondition::Of::any && condition.ranks.size() > 1;
    });
}

/// "rank 0 waits in Recv fromRank=1 at main (a.c:7) for rank 1"
std::string wait_text(const WaitingProcess& process)
{
    return "rank " + std::to_string(process.place.rank) + " waits in " + process.call +
           at(process.place.site) + text_of(process.operations) + " for " +
           (process.is_for_any ? "any of " : "") + ranks_text(process.awaited);
}

class Finder {
  public:
    Finder(const std::map<std::int64_t, WaitingCall>& waiting, const std::set<std::int64_t>& ended)
        : m_waiting(waiting), m_ended(ended), m_stuck(find_stuck(waits_of(waiting), ended))
    {
        for (const std::int64_t rank : m_stuck.all)
            for (const std::int64_t awaited : awaited_by(rank))
                m_waiters[awaited].push_back(rank);
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
            if (std::ranges::includes(m_ended, awaited_by(rank)))
                found.push_back({wait_text(process(rank, false)) + ", which ended" + doubt_text({rank}),
                                 {process(rank, false)},
                                 doubtful_of({rank}).empty()});
        return found;
    }

  private:
    std::set<std::int64_t> awaited_by(std::int64_t rank) const
    {
        return awaited_in_vain(m_waiting.at(rank).wait, m_stuck.all, m_ended);
    }

    WaitingProcess process(std::int64_t rank, bool is_in_circle) const
    {
        const WaitingCall& call = m_waiting.at(rank);
        return {{rank, call.thread, call.line, call.site},
                call.text,
                call.operations,
                awaited_by(rank),
                is_for_any(call),
                is_in_circle};
    }

    /// Those who wait for the circle, directly or by others.
    std::set<std::int64_t> behind_of(const Circle& circle) const
    {
        std::set<std::int64_t> behind;
        std::vector<std::int64_t> asked(circle.begin(), circle.end());
        while (!asked.empty()) {
            const auto waiters = m_waiters.find(asked.back());
            asked.pop_back();
            if (waiters == m_waiters.end())
                continue;
            for (const std::int64_t rank : waiters->second)
                if (!circle.contains(rank) && behind.insert(rank).second)
                    asked.push_back(rank);
        }
        return behind;
    }

    Circle doubtful_of(const Circle& circle) const
    {
        Circle doubtful;
        for (const std::int64_t rank : circle)
            if (m_waiting.at(rank).may_do_more)
                doubtful.insert(rank);
        return doubtful;
    }

    std::string doubt_text(const Circle& circle) const
    {
        const Circle doubtful = doubtful_of(circle);
        return doubtful.empty() ? ""
                                : "; " + ranks_text(doubtful) + " may compute between polls, and go on then";
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
    std::map<std::int64_t, std::vector<std::int64_t>> m_waiters; ///< for each rank those that can never go on
};

} // namespace

std::string ranks_text(const std::set<std::int64_t>& ranks)
{
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    std::size_t shown = 0;
    for (const std::int64_t rank : ranks) {
        if (shown++ == most_shown)
            return text + " and " + std::to_string(ranks.size() - most_shown) + " more";
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
