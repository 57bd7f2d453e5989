#include "hdtrace/explaining/causes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace hdtrace {
namespace {

/// A step at which a thread left a gathering.
struct Leaving {
    std::uint32_t step;
    std::uint32_t gathering; ///< position in History::gatherings
};

/// Threads that have not met for so many calls are compared from there on, as comparing takes its time.
constexpr std::uint32_t most_steps = 65536;

/// Steps at which threads met each other.
class Meetings {
  public:
    explicit Meetings(const History& history) : m_history(history), m_of(history.timelines.size())
    {
        reserve();
        for (std::size_t i = 0; i < history.gatherings.size(); ++i)
            for (const Gathering::Member& member : history.gatherings[i].members)
                if (member.has_ended)
                    m_of[member.end.timeline].push_back({member.end.step, static_cast<std::uint32_t>(i)});
        for (std::vector<Leaving>& leavings : m_of) {
            std::ranges::stable_sort(leavings, {}, &Leaving::step);
            m_is_in_order.push_back(std::ranges::is_sorted(between_ends(leavings), {}, &Leaving::gathering));
        }
    }

    /// When the threads of two steps last met before both; nothing if they never did.
    std::optional<std::int64_t> last_before(StepId one, StepId other) const
    {
        const auto at_one = search(one, other, INT64_MIN);
        const auto at_other = search(other, one, at_one.value_or(INT64_MIN));
        return at_other ? std::max(at_one.value_or(INT64_MIN), *at_other) : at_one;
    }

  private:
    /// Not more memory than they need, as there are as many as calls.
    void reserve()
    {
        std::vector<std::size_t> counts(m_of.size());
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i)
            for (const Gathering::Member& member : m_history.gatherings[i].members)
                counts[member.end.timeline] += member.has_ended;
        for (std::size_t i = 0; i < counts.size(); ++i)
            m_of[i].reserve(counts[i]);
    }

    /// Of what is known at the first thread; nothing if it was before @p earliest.
    std::optional<std::int64_t> search(StepId behind, StepId with, std::int64_t earliest) const
    {
        const std::vector<Leaving>& leavings = m_of[behind.timeline];
        auto leaving = std::ranges::lower_bound(leavings, behind.step, {}, &Leaving::step);
        const std::vector<Need>& needs = m_history.needs;
        auto need = std::ranges::lower_bound(needs, StepId{behind.timeline, behind.step}, {}, &Need::call);
        while (true) {
            const bool has_need = need != needs.begin() && (need - 1)->call.timeline == behind.timeline;
            const bool has_leaving = leaving != leavings.begin();
            if (!has_need && !has_leaving)
                return {};
            const bool is_gathering =
                has_leaving && (!has_need || (leaving - 1)->step >= (need - 1)->call.step);
            const std::uint32_t step = is_gathering ? (--leaving)->step : (--need)->call.step;
            const Step here = m_history.step({behind.timeline, step});
            if (behind.step - step > most_steps || here.end <= earliest)
                return {};
            const auto other = is_gathering ? member_of(leaving->gathering, with.timeline)
                                            : step_of(need->of, with.timeline);
            if (!other || *other >= with.step)
                continue;
            const Step there = m_history.step({with.timeline, *other});
            // A message is there once both have come; members of an operation have met when they leave it.
            return is_gathering ? std::max(here.end, there.end) : std::max(here.begin, there.begin);
        }
    }

    /// Init and Finalize are numbered behind all others.
    static std::span<const Leaving> between_ends(const std::vector<Leaving>& leavings)
    {
        const std::size_t count = leavings.size();
        return count > 2 ? std::span(leavings).subspan(1, count - 2) : std::span<const Leaving>();
    }

    static std::optional<std::uint32_t> step_of(StepId id, std::uint32_t timeline)
    {
        return id.timeline == timeline ? std::optional(id.step) : std::nullopt;
    }

    std::optional<std::uint32_t> member_of(std::uint32_t gathering, std::uint32_t timeline) const
    {
        const std::vector<Leaving>& leavings = m_of[timeline];
        if (leavings.empty())
            return {};
        for (const Leaving& end : {leavings.front(), leavings.back()})
            if (end.gathering == gathering)
                return end.step;
        if (m_is_in_order[timeline]) {
            const std::span<const Leaving> others = between_ends(leavings);
            const auto found = std::ranges::lower_bound(others, gathering, {}, &Leaving::gathering);
            const bool is_member = found != others.end() && found->gathering == gathering;
            return is_member ? std::optional(found->step) : std::nullopt;
        }
        for (const Gathering::Member& member : m_history.gatherings[gathering].members)
            if (member.end.timeline == timeline && member.has_ended)
                return member.end.step;
        return {};
    }

    const History& m_history;
    std::vector<std::vector<Leaving>> m_of; ///< by timeline, in the order of the steps
    std::vector<bool> m_is_in_order;        ///< by timeline: whether gatherings between both ends are, too
};

/// What a thread did in some time.
struct Profile {
    ActivityTimes times;
    std::int64_t begin = 0;
    std::int64_t waiting = 0; ///< for others
    const WaitState* first_wait = nullptr;
    const WaitState* last_wait = nullptr; ///< behind it
};

class CauseFinder {
  public:
    CauseFinder(const History& history, const std::vector<WaitState>& waits)
        : m_history(history), m_all_waits(waits), m_waits(history, waits), m_meetings(history),
          m_inherited(waits.size()), m_is_shared_out(waits.size())
    {
    }

    std::vector<Cause> find()
    {
        std::vector<std::uint32_t> order;
        order.reserve(static_cast<std::size_t>(std::ranges::count_if(m_all_waits, &WaitState::has_cause)));
        for (std::uint32_t i = 0; i < m_all_waits.size(); ++i)
            if (m_all_waits[i].has_cause())
                order.push_back(i);
        // What a wait state passes on goes to earlier ones.
        std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
            const std::int64_t end_of_a = end_of(a), end_of_b = end_of(b);
            return end_of_a != end_of_b ? end_of_a > end_of_b : a < b;
        });
        for (const std::uint32_t i : order)
            share_out(i);
        return sorted();
    }

  private:
    struct Sum {
        Cause cause;
        std::unordered_set<std::int64_t> ranks;
    };

    std::int64_t end_of(std::uint32_t wait) const
    {
        return m_history.step(m_all_waits[wait].call).begin + m_all_waits[wait].time;
    }

    void share_out(std::uint32_t number)
    {
        const WaitState& wait = m_all_waits[number];
        m_is_shared_out[number] = true;
        const auto since = comparable_since(wait.call, wait.cause);
        profile(m_waiting, wait.call, since);
        profile(m_late, wait.cause, since);

        const double waited_more =
            static_cast<double>(std::max<std::int64_t>(m_late.waiting - m_waiting.waiting, 0));
        double total = waited_more;
        m_delays.clear();
        for (const auto& [activity, time] : m_late.times) {
            const auto same = m_waiting.times.find(activity);
            const std::int64_t more = time - (same == m_waiting.times.end() ? 0 : same->second);
            if (more > 0) {
                m_delays.emplace_back(activity, static_cast<double>(more));
                total += static_cast<double>(more);
            }
        }
        if (total <= 0) { // it is in the call itself that it is late
            m_delays.emplace_back(Activity{m_history.step(wait.cause).place, Activity::none}, 1);
            total = 1;
        }
        const double own = static_cast<double>(wait.time), inherited = m_inherited[number];
        for (const auto& [activity, time] : m_delays)
            add(wait, activity, own * (time / total), inherited * (time / total));
        if (waited_more > 0)
            pass_on((own + inherited) * (waited_more / total));
    }

    /// From when on what the threads of two steps did before them is compared. From the same moment on, what
    /// the late one did longer is not less than what the other one waits. Nothing: from their beginnings.
    std::optional<std::int64_t> comparable_since(StepId one, StepId other) const
    {
        auto since = m_meetings.last_before(one, other);
        if (since) // it may have been there already when they met
            since = std::min(*since, m_history.step(one).begin);
        for (const StepId before : {one, other})
            if (before.step > most_steps)
                since = std::max(since.value_or(INT64_MIN),
                                 m_history.step({before.timeline, before.step - most_steps}).end);
        return since;
    }

    /// What a thread did before a step, since a moment.
    void profile(Profile& profile, StepId before, std::optional<std::int64_t> since)
    {
        const Timeline& timeline = m_history.timelines[before.timeline];
        profile.begin = since.value_or(timeline.begin());
        profile.times.clear();
        profile.waiting = 0;
        profile.first_wait = profile.last_wait = m_waits.from(before);
        for (; profile.first_wait != m_waits.begin(before.timeline); --profile.first_wait) {
            const WaitState* const wait = profile.first_wait - 1;
            if (m_history.step(wait->call).end <= profile.begin)
                break;
            profile.waiting += can_inherit(wait) ? time_behind(*wait, profile.begin) : 0;
        }
        visit_activities(
            m_history, m_waits, before.timeline, profile.begin, m_history.step(before).begin,
            [&](Activity activity, std::int64_t from, std::int64_t to) {
                profile.times[activity] += to - from;
            },
            [](const WaitState&) { return true; });
    }

    /// Of a wait state that has a cause: it is at the beginning of its call.
    std::int64_t time_behind(const WaitState& wait, std::int64_t moment) const
    {
        const std::int64_t begin = m_history.step(wait.call).begin;
        return std::max<std::int64_t>(begin + wait.time - std::max(begin, moment), 0);
    }

    void add(const WaitState& wait, Activity activity, double direct, double propagated)
    {
        const std::int64_t rank = m_history.timelines[wait.cause.timeline].rank;
        Sum& sum = m_sums[{rank, activity}];
        sum.cause.direct += direct;
        sum.cause.propagated += propagated;
        sum.ranks.insert(m_history.timelines[wait.call.timeline].rank);
    }

    /// Where clocks do not agree, or are coarse, a wait state may seem to end after one that it caused.
    bool can_inherit(const WaitState* wait) const
    {
        return wait->has_cause() && !m_is_shared_out[static_cast<std::size_t>(wait - m_all_waits.data())];
    }

    /// To the wait states of the late thread.
    void pass_on(double time)
    {
        for (const WaitState* wait = m_late.first_wait; wait < m_late.last_wait; ++wait)
            if (can_inherit(wait))
                m_inherited[static_cast<std::size_t>(wait - m_all_waits.data())] +=
                    time * static_cast<double>(time_behind(*wait, m_late.begin)) /
                    static_cast<double>(m_late.waiting);
    }

    std::vector<Cause> sorted() const
    {
        std::vector<Cause> causes;
        for (const auto& [key, sum] : m_sums) {
            Cause cause = sum.cause;
            std::tie(cause.rank, cause.activity) = key;
            cause.waiting_ranks = static_cast<std::int64_t>(sum.ranks.size());
            causes.push_back(cause);
        }
        std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::cost);
        return causes;
    }

    const History& m_history;
    const std::vector<WaitState>& m_all_waits;
    const WaitsOfTimelines m_waits;
    const Meetings m_meetings;
    std::vector<double> m_inherited; ///< of each wait state: of those that it caused
    std::vector<bool> m_is_shared_out;
    Profile m_waiting, m_late;
    std::vector<std::pair<Activity, double>> m_delays;
    std::map<std::pair<std::int64_t, Activity>, Sum> m_sums; ///< by rank and activity
};

} // namespace

std::vector<Cause> find_causes(const History& history, const std::vector<WaitState>& waits)
{
    return CauseFinder(history, waits).find();
}

} // namespace hdtrace
