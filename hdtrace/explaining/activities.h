// activities.h - what threads spend their time on, whichever thread it is and how often.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hdtrace/explaining/history.h"
#include "hdtrace/explaining/wait_states.h"

namespace hdtrace {

/// To be in a call, without waiting; or to compute between two places.
struct Activity {
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t place = none; ///< the call; or where the computation begins, none: before the first call
    std::uint32_t next = none;  ///< where it ends; none: it is a call

    bool is_computation() const { return next != none || place == none; }
    auto operator<=>(const Activity&) const = default;
};

struct ActivityHash {
    std::size_t operator()(const Activity& activity) const
    {
        const std::uint64_t both = (std::uint64_t{activity.place} << 32) | activity.next;
        return static_cast<std::size_t>((both * 0x9E3779B97F4A7C15u) >> 17);
    }
};

using ActivityTimes = std::unordered_map<Activity, std::int64_t, ActivityHash>;

/// The wait states of each timeline.
class WaitsOfTimelines {
  public:
    /// @p waits must outlive it.
    WaitsOfTimelines(const History& history, const std::vector<WaitState>& waits);

    const WaitState* begin(std::uint32_t timeline) const { return m_begins[timeline]; }
    const WaitState* end(std::uint32_t timeline) const { return m_begins[timeline + 1]; }
    /// The first that belongs to this step or a later one.
    const WaitState* from(StepId step) const
    {
        return std::ranges::lower_bound(begin(step.timeline), end(step.timeline), step, {}, &WaitState::call);
    }

  private:
    std::vector<const WaitState*> m_begins;
};

/// Gives visit(activity, begin, end) what a thread does in a time; the rest of the calls is waiting: those
/// waits for which is_waiting(wait) is true. In a call waiting comes first, if it has a cause.
template <class Visit, class IsWaiting>
void visit_activities(const History& history, const WaitsOfTimelines& waits, std::uint32_t timeline,
                      std::int64_t begin, std::int64_t end, Visit&& visit, IsWaiting&& is_waiting)
{
    const Steps& steps = history.timelines[timeline].steps;
    const auto give = [&](Activity activity, std::int64_t from, std::int64_t to) {
        from = std::max(from, begin);
        to = std::min(to, end);
        if (from < to)
            visit(activity, from, to);
    };
    std::size_t low = 0, high = steps.size(); // the first step that ends behind the beginning
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (steps[middle].end <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    const WaitState* wait = waits.from({timeline, static_cast<std::uint32_t>(low)});
    for (std::size_t i = low; i < steps.size(); ++i) {
        const Step step = steps[i];
        if (i > 0)
            give({steps[i - 1].place, step.place}, steps[i - 1].end, step.begin);
        if (step.begin >= end)
            break;
        std::int64_t works_from = step.begin, works_to = step.end;
        for (; wait != waits.end(timeline) && wait->call.step <= i; ++wait)
            if (is_waiting(*wait))
                (wait->has_cause() ? works_from : works_to) += wait->has_cause() ? wait->time : -wait->time;
        give({step.place, Activity::none}, works_from, works_to);
    }
}

} // namespace hdtrace
