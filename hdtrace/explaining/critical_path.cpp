#include "hdtrace/explaining/critical_path.h"

#include <map>
#include <optional>
#include <set>

namespace hdtrace {
namespace {

/// Where the path leaves a thread, if clocks agree that the cause was before the end of the call.
bool is_crossing(const History& history, const WaitState& wait)
{
    return wait.has_cause() && history.step(wait.call).begin + wait.time == history.step(wait.cause).begin;
}

class PathFinder {
  public:
    PathFinder(const History& history, const std::vector<WaitState>& waits)
        : m_history(history), m_waits(history, waits),
          m_most_crossings(waits.size() + history.timelines.size())
    {
    }

    std::vector<PathPart> find()
    {
        const auto& timelines = m_history.timelines;
        std::uint32_t timeline = 0;
        for (std::uint32_t i = 0; i < timelines.size(); ++i)
            if (!timelines[i].steps.empty() &&
                (timelines[timeline].steps.empty() || timelines[i].end() > timelines[timeline].end()))
                timeline = i;
        if (timelines.empty() || timelines[timeline].steps.empty())
            return {};
        follow({timeline, static_cast<std::uint32_t>(timelines[timeline].steps.size())});
        std::ranges::reverse(m_path);
        return std::move(m_path);
    }

  private:
    /// Back from the end of the step before @p behind.
    void follow(StepId behind)
    {
        const std::int64_t first = m_history.begin();
        std::int64_t end = m_history.timelines[behind.timeline].end();
        // Calls that begin at the same time may wait for each other.
        for (std::size_t crossings = 0; crossings <= m_most_crossings; ++crossings) {
            const std::optional<Crossing> crossing = crossing_before(behind, end);
            const std::int64_t begin = crossing ? crossing->time : first;
            if (begin < end)
                m_path.push_back({behind.timeline, begin, end});
            if (!crossing)
                return;
            end = begin;
            behind = crossing->to;
        }
        m_path.push_back({behind.timeline, first, end});
    }

    /// Where the path comes from.
    struct Crossing {
        StepId to; ///< behind the step before it
        std::int64_t time;
    };

    std::optional<Crossing> crossing_before(StepId behind, std::int64_t end) const
    {
        if (const WaitState* const wait = last_crossing(behind, end))
            return Crossing{wait->cause, m_history.step(wait->cause).begin};
        return beginning_of_thread(behind.timeline);
    }

    /// In the thread of the process that called first, if it is another one.
    std::optional<Crossing> beginning_of_thread(std::uint32_t timeline) const
    {
        const auto& timelines = m_history.timelines;
        std::uint32_t first = timeline;
        for (std::uint32_t i = 0; i < timelines.size(); ++i)
            if (timelines[i].rank == timelines[timeline].rank && !timelines[i].steps.empty() &&
                timelines[i].begin() < timelines[first].begin())
                first = i;
        if (first == timeline)
            return std::nullopt;
        const std::int64_t time = timelines[timeline].begin();
        std::uint32_t step = 0;
        while (step < timelines[first].steps.size() && timelines[first].steps[step].begin < time)
            ++step;
        return Crossing{{first, step}, time};
    }

    const WaitState* last_crossing(StepId behind, std::int64_t end) const
    {
        for (const WaitState* wait = m_waits.from(behind); wait != m_waits.begin(behind.timeline);)
            if (is_crossing(m_history, *--wait) && m_history.step(wait->cause).begin <= end)
                return wait;
        return nullptr;
    }

    const History& m_history;
    const WaitsOfTimelines m_waits;
    const std::size_t m_most_crossings;
    std::vector<PathPart> m_path;
};

/// What all processes do, as far as it is on the path, where they do not wait for others.
ActivityTimes total_times(const History& history, const WaitsOfTimelines& waits, const ActivityTimes& on_path)
{
    ActivityTimes times = on_path;
    for (auto& [activity, time] : times)
        time = 0;
    const std::int64_t first = history.begin(), last = history.end();
    for (std::uint32_t timeline = 0; timeline < history.timelines.size(); ++timeline)
        visit_activities(
            history, waits, timeline, first, last,
            [&](Activity activity, std::int64_t begin, std::int64_t end) {
                if (const auto found = times.find(activity); found != times.end())
                    found->second += end - begin;
            },
            [](const WaitState& wait) { return wait.has_cause(); });
    return times;
}

} // namespace

std::vector<PathPart> find_critical_path(const History& history, const std::vector<WaitState>& waits)
{
    return PathFinder(history, waits).find();
}

std::vector<PathActivity> profile_of(const std::vector<PathPart>& path, const History& history,
                                     const std::vector<WaitState>& all_waits)
{
    const WaitsOfTimelines waits(history, all_waits);
    ActivityTimes on_path;
    std::map<std::pair<Activity, std::int64_t>, std::int64_t> of_ranks;
    for (const PathPart& part : path) {
        const std::int64_t rank = history.timelines[part.timeline].rank;
        std::int64_t rest = part.end - part.begin;
        const auto add = [&](Activity activity, std::int64_t time) {
            on_path[activity] += time;
            of_ranks[{activity, rank}] += time;
            rest -= time;
        };
        // Whatever a call does there makes the run longer, also until an operation is complete.
        visit_activities(
            history, waits, part.timeline, part.begin, part.end,
            [&](Activity activity, std::int64_t begin, std::int64_t end) { add(activity, end - begin); },
            [](const WaitState&) { return false; });
        if (rest > 0) // before the first call
            add(Activity(), rest);
    }
    const ActivityTimes totals = total_times(history, waits, on_path);
    std::set<std::int64_t> ranks;
    for (const Timeline& timeline : history.timelines)
        ranks.insert(timeline.rank);

    std::vector<PathActivity> profile;
    std::map<Activity, std::pair<std::int64_t, std::int64_t>> largest; // time and rank
    for (const auto& [activity_and_rank, time] : of_ranks)
        if (auto& [most, rank] = largest[activity_and_rank.first]; time > most)
            largest[activity_and_rank.first] = {time, activity_and_rank.second};
    for (const auto& [activity, time] : on_path) {
        const double mean = activity == Activity() ? static_cast<double>(time)
                                                   : static_cast<double>(totals.at(activity)) /
                                                         static_cast<double>(ranks.size());
        profile.push_back({activity, time, mean, largest[activity].second});
    }
    std::ranges::sort(profile, [](const PathActivity& a, const PathActivity& b) {
        return a.time != b.time ? a.time > b.time : a.activity < b.activity;
    });
    return profile;
}

} // namespace hdtrace
