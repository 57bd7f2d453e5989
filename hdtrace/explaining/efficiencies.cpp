#include "hdtrace/explaining/efficiencies.h"

#include <algorithm>
#include <set>

#include "hdtrace/explaining/ideal_network.h"

namespace hdtrace {

Efficiencies::Efficiencies(const History& history, const std::vector<WaitState>& waits)
{
    const std::vector<IdealThread> ideal = replay_on_ideal_network(history, waits);
    std::set<std::int64_t> ranks;
    std::int64_t begin = INT64_MAX, end = INT64_MIN, ideal_end = INT64_MIN;
    for (std::size_t i = 0; i < history.timelines.size(); ++i) {
        const Timeline& timeline = history.timelines[i];
        if (timeline.steps.empty() || !ranks.insert(timeline.rank).second)
            continue;
        const Working working = working_part(timeline, history.places);
        std::int64_t computation = working.end - working.begin;
        for (std::uint32_t step = working.first; step < working.last; ++step)
            computation -= timeline.steps[step].end - timeline.steps[step].begin;
        begin = std::min(begin, working.begin);
        end = std::max(end, working.end);
        ideal_end = std::max(ideal_end, ideal[i].end);
        mean_computation += static_cast<double>(computation);
        most_computation = std::max(most_computation, computation);
        most_work = std::max(most_work, computation + ideal[i].file_time);
    }
    processes = static_cast<std::int64_t>(ranks.size());
    if (ranks.empty())
        return;
    mean_computation /= static_cast<double>(processes);
    time = end - begin;
    // Where clocks do not agree messages may seem to come before they are sent.
    ideal_time = std::clamp(ideal_end - begin, std::min(most_work, time), time);
}

} // namespace hdtrace
