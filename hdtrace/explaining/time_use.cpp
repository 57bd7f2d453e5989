#include "hdtrace/explaining/time_use.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

Spread spread_of(std::string_view what, const std::map<std::int64_t, Use>& by_rank,
                 const std::function<std::int64_t(const Use&)>& time_of)
{
    Spread spread{.what = what};
    bool is_first = true;
    for (const auto& [rank, use] : by_rank) {
        const std::int64_t time = time_of(use);
        spread.total = saturated_sum(spread.total, time);
        if (is_first || time < spread.minimum) {
            spread.minimum = time;
            spread.minimum_rank = rank;
        }
        if (is_first || time > spread.maximum) {
            spread.maximum = time;
            spread.maximum_rank = rank;
        }
        is_first = false;
    }
    spread.mean =
        by_rank.empty() ? 0 : static_cast<double>(spread.total) / static_cast<double>(by_rank.size());
    return spread;
}

/// Adds it up by place; waiting is not in it.
void add_use_of(const History& history, const Timeline& timeline, std::vector<Use>& at_place)
{
    for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
        const Step step = timeline.steps[i];
        Use& use = at_place[step.place];
        if (i + 1 < timeline.steps.size())
            use.computation = saturated_sum(use.computation, timeline.steps[i + 1].begin - step.end);
        if (const CallFacts* const call = history.places[step.place].call) {
            ++use.calls;
            use.in_calls = saturated_sum(use.in_calls, step.end - step.begin);
            use.in_class[static_cast<std::size_t>(call->call_class)] = use.in_calls;
        }
    }
    for (const std::uint32_t step : timeline.left_out)
        --at_place[timeline.steps[step].place].calls;
}

/// Each one once.
std::vector<std::uint32_t> places_of(const Timeline& timeline, std::vector<bool>& is_known)
{
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
        const std::uint32_t place = timeline.steps[i].place;
        if (!is_known[place])
            places.push_back(place);
        is_known[place] = true;
    }
    for (const std::uint32_t place : places)
        is_known[place] = false;
    return places;
}

} // namespace

Use& Use::operator+=(const Use& other)
{
    calls += other.calls;
    in_calls = saturated_sum(in_calls, other.in_calls);
    waiting = saturated_sum(waiting, other.waiting);
    computation = saturated_sum(computation, other.computation);
    for (std::size_t i = 0; i < in_class.size(); ++i)
        in_class[i] = saturated_sum(in_class[i], other.in_class[i]);
    return *this;
}

TimeUse::TimeUse(const History& history, const std::vector<WaitState>& waits)
    : by_place(history.places.size())
{
    // Threads are at few of all places: those of other communicators are not looked at.
    std::vector<Use> at_place(history.places.size());
    std::vector<bool> is_known(history.places.size());
    for (const Timeline& timeline : history.timelines) {
        add_use_of(history, timeline, at_place);
        Use& of_rank = by_rank[timeline.rank];
        for (const std::uint32_t place : places_of(timeline, is_known)) {
            const Use use = std::exchange(at_place[place], {});
            by_place[place] += use;
            of_rank += use;
        }
    }
    for (const WaitState& wait : waits) {
        Use& of_rank = by_rank[history.timelines[wait.call.timeline].rank];
        Use& at = by_place[history.step(wait.call).place];
        of_rank.waiting = saturated_sum(of_rank.waiting, wait.time);
        at.waiting = saturated_sum(at.waiting, wait.time);
    }
}

std::vector<Use> use_of_timeline(const History& history, const std::vector<WaitState>& waits,
                                 std::uint32_t number)
{
    std::vector<Use> at_place(history.places.size());
    add_use_of(history, history.timelines[number], at_place);
    const auto own =
        std::ranges::equal_range(waits, number, {}, [](const WaitState& wait) { return wait.call.timeline; });
    for (const WaitState& wait : own) {
        Use& at = at_place[history.step(wait.call).place];
        at.waiting = saturated_sum(at.waiting, wait.time);
    }
    return at_place;
}

std::vector<Spread> TimeUse::spreads() const
{
    std::vector<Spread> spreads = {
        spread_of("computation", by_rank, [](const Use& use) { return use.computation; }),
        spread_of("waiting", by_rank, [](const Use& use) { return use.waiting; }),
    };
    for (std::size_t i = 0; i < call_class_count; ++i) {
        const Spread spread = spread_of(class_name(static_cast<CallClass>(i)), by_rank,
                                        [i](const Use& use) { return use.in_class[i]; });
        if (spread.total > 0)
            spreads.push_back(spread);
    }
    return spreads;
}

} // namespace hdtrace
