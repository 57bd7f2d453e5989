#include "hdtrace/explaining/efficiencies.h"

#include <algorithm>
#include <set>

#include "hdtrace/explaining/ideal_network.h"

namespace hdtrace {

Efficiencies::Efficiencies(const History& history, const std::vector<WaitState>& waits)
{
    const std::vector<std::int64_t> ideal_ends = replay_on_ideal_network(history, waits);
    std::set<std::int64_t> ranks;
    std::int64_t begin = INT64_MAX, end = INT64_MIN, ideal_end = INT64_MIN;
    for (std::size_t i = 0; i < history.timelines.size(); ++i) {
        const Timeline& timeline = history.timelines[i];
        if (timeline.steps.empty() || !ranks.insert(timeline.rank).second)
            continue;
        const Working working = working_part(timeline, history.places);
        std::int64_t computation = working.end - working.begin;
        for (std::uint32_t step = working.first; step < working.last; ++step) {
            const std::int64_t time = timeline.steps[step].end - timeline.steps[step].begin;
            const CallFacts* const call = history.places[timeline.steps[step].place].call;
            computation -= time;
            mean_file_time += call && call->call_class == CallClass::file ? static_cast<double>(time) : 0;
        }
        begin = std::min(begin, working.begin);
        end = std::max(end, working.end);
        ideal_end = std::max(ideal_end, ideal_ends[i]);
        mean_computation += static_cast<double>(computation);
        most_computation = std::max(most_computation, computation);
    }
    processes = static_cast<std::int64_t>(ranks.size());
    if (ranks.empty())
        return;
    mean_computation /= static_cast<double>(processes);
    mean_file_time /= static_cast<double>(processes);
    time = end - begin;
    // Where clocks do not agree messages may seem to come before they are sent.
    ideal_time = std::clamp(ideal_end - begin, std::min(most_computation, time), time);
}

} // namespace hdtrace
