#include "hdtrace/explaining/phases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace hdtrace {
namespace {

constexpr std::size_t fewest_iterations = 5;
constexpr double least_share = 0.1;   // of the run, without its beginning and end
constexpr double least_typical = 0.5; // of the phase, if all iterations took as long as the typical one
// An outlier is far from the typical time, measured by how far the others are.
constexpr double far = 6;                      // times the usual deviation
constexpr double least_excess = 0.2;           // of the typical time
constexpr double deviation_of_median = 1.4826; // makes a median deviation a standard one
// A drift is told if it is not by chance, and matters.
constexpr double certain = 4; // standard errors
constexpr double least_drift = 0.05;

/// Places that a thread visits in turn, in the order of the first visits.
struct Cycle {
    std::uint32_t timeline = 0;
    std::size_t count = 0;
    std::vector<std::uint32_t> places;
    std::uint32_t first_step = 0;
};

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 != 0)
        return *middle;
    return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

/// Which steps a thread is at each place.
class Visits {
  public:
    Visits(const Timeline& timeline, std::size_t places) : m_begins(places + 1)
    {
        const Steps& steps = timeline.steps;
        for (std::size_t i = 0; i < steps.size(); ++i)
            ++m_begins[steps[i].place + 1];
        std::partial_sum(m_begins.begin(), m_begins.end(), m_begins.begin());
        std::vector<std::size_t> next(m_begins.begin(), m_begins.end() - 1);
        m_steps.resize(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i)
            m_steps[next[steps[i].place]++] = static_cast<std::uint32_t>(i);
    }

    std::size_t count(std::uint32_t place) const { return m_begins[place + 1] - m_begins[place]; }
    const std::uint32_t* steps(std::uint32_t place) const { return m_steps.data() + m_begins[place]; }

    /// Whether one visit of @p other comes behind each of @p place, and before the next one.
    bool alternate(std::uint32_t place, std::uint32_t other) const
    {
        const std::uint32_t* const first = steps(place);
        const std::uint32_t* const second = steps(other);
        for (std::size_t i = 0; i < count(place); ++i)
            if (second[i] < first[i] || (i + 1 < count(place) && second[i] > first[i + 1]))
                return false;
        return true;
    }

  private:
    std::vector<std::size_t> m_begins; ///< by place: where its steps begin
    std::vector<std::uint32_t> m_steps;
};

/// Of one thread, by how often it goes through them.
std::multimap<std::size_t, Cycle> find_cycles(const History& history, std::uint32_t number,
                                              std::int64_t least_time)
{
    const Timeline& timeline = history.timelines[number];
    const Visits visits(timeline, history.places.size());
    std::vector<std::uint32_t> places; // by their first visits
    for (std::uint32_t place = 0; place < history.places.size(); ++place)
        if (visits.count(place) >= fewest_iterations)
            places.push_back(place);
    std::ranges::sort(places, {}, [&](std::uint32_t place) { return *visits.steps(place); });
    std::multimap<std::size_t, Cycle> cycles;
    for (const std::uint32_t place : places) {
        const std::size_t count = visits.count(place);
        const auto [begin, end] = cycles.equal_range(count);
        const auto known = std::find_if(begin, end, [&](const auto& cycle) {
            return visits.alternate(cycle.second.places.front(), place);
        });
        if (known != end)
            known->second.places.push_back(place);
        else
            cycles.emplace(count, Cycle{number, count, {place}, *visits.steps(place)});
    }
    std::erase_if(cycles, [&](const auto& entry) {
        const Cycle& cycle = entry.second;
        const std::uint32_t last = visits.steps(cycle.places.back())[cycle.count - 1];
        return timeline.steps[last].end - timeline.steps[cycle.first_step].begin < least_time;
    });
    return cycles;
}

/// How long threads do something else than to begin and to end MPI, at most.
std::int64_t time_of_work(const History& history)
{
    std::int64_t longest = 0;
    for (const Timeline& timeline : history.timelines) {
        std::int64_t time = timeline.end() - timeline.begin();
        for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
            const Step step = timeline.steps[i];
            const CallFacts* const call = history.places[step.place].call;
            if (call && (call->life == LifeCycle::begins || call->life == LifeCycle::ends))
                time -= step.end - step.begin;
        }
        longest = std::max(longest, time);
    }
    return longest;
}

/// The thread of each process that did most.
std::vector<std::uint32_t> busiest_threads(const History& history)
{
    std::map<std::int64_t, std::uint32_t> by_rank;
    for (std::uint32_t i = 0; i < history.timelines.size(); ++i) {
        const auto [known, is_new] = by_rank.try_emplace(history.timelines[i].rank, i);
        if (!is_new && history.timelines[i].steps.size() > history.timelines[known->second].steps.size())
            known->second = i;
    }
    std::vector<std::uint32_t> threads;
    for (const auto& [rank, timeline] : by_rank)
        threads.push_back(timeline);
    return threads;
}

/// What one process does in each iteration, in nanoseconds.
struct Times {
    std::int64_t rank = 0;
    std::vector<float> computation;
};

class PhaseReader {
  public:
    PhaseReader(const History& history, const std::vector<const Cycle*>& cycles) : m_history(history)
    {
        const std::size_t count = cycles.front()->count;
        m_phase.places = cycles.front()->places;
        m_phase.iterations.resize(count);
        for (const Cycle* cycle : cycles)
            read(*cycle);
        for (Phase::Iteration& iteration : m_phase.iterations)
            iteration.time /= static_cast<double>(cycles.size());
    }

    Phase judged()
    {
        std::vector<double> times;
        for (const Phase::Iteration& iteration : m_phase.iterations)
            times.push_back(iteration.time);
        m_phase.typical = median(times);
        find_outliers(times);
        find_drift();
        return std::move(m_phase);
    }

  private:
    void read(const Cycle& cycle)
    {
        const Timeline& timeline = m_history.timelines[cycle.timeline];
        const Steps& steps = timeline.steps;
        const std::uint32_t last_place = cycle.places.back();
        Times times{timeline.rank, {}};
        times.computation.reserve(cycle.count);
        std::int64_t begin = steps[cycle.first_step].begin, in_calls = 0;
        const bool is_first = m_times.empty();
        m_phase.begin = is_first ? begin : std::min(m_phase.begin, begin);
        for (std::size_t i = cycle.first_step; times.computation.size() < cycle.count; ++i) {
            in_calls += steps[i].end - steps[i].begin;
            if (steps[i].place != last_place)
                continue;
            Phase::Iteration& iteration = m_phase.iterations[times.computation.size()];
            const std::int64_t time = steps[i].end - begin;
            if (is_first)
                iteration.begin = begin;
            iteration.time += static_cast<double>(time);
            times.computation.push_back(static_cast<float>(time - in_calls));
            begin = steps[i].end;
            in_calls = 0;
        }
        m_phase.end = is_first ? begin : std::max(m_phase.end, begin);
        m_times.push_back(std::move(times));
    }

    void find_outliers(const std::vector<double>& times)
    {
        std::vector<double> deviations;
        for (const double time : times)
            deviations.push_back(std::abs(time - m_phase.typical));
        const double usual = deviation_of_median * median(deviations);
        const double least = std::max(far * usual, least_excess * m_phase.typical);
        for (std::size_t i = 0; i < times.size(); ++i)
            if (times[i] - m_phase.typical > least)
                m_phase.outliers.push_back({i, times[i] - m_phase.typical, {}, 0});
        if (!m_phase.outliers.empty())
            for (const Times& process : m_times)
                blame(process);
    }

    void blame(const Times& process)
    {
        const double typical = median({process.computation.begin(), process.computation.end()});
        for (Outlier& outlier : m_phase.outliers) {
            const double excess = process.computation[outlier.iteration] - typical;
            if (excess < outlier.excess / 2 || excess <= outlier.computation_excess)
                continue;
            outlier.rank = process.rank;
            outlier.computation_excess = excess;
        }
    }

    /// Least squares; the standard error of the slope tells what may be chance.
    void find_drift()
    {
        std::vector<bool> is_outlier(m_phase.iterations.size());
        for (const Outlier& outlier : m_phase.outliers)
            is_outlier[outlier.iteration] = true;
        double count = 0, mean_x = 0, mean_y = 0;
        const auto for_each = [&](auto visit) {
            for (std::size_t i = 0; i < m_phase.iterations.size(); ++i)
                if (!is_outlier[i])
                    visit(static_cast<double>(i), m_phase.iterations[i].time);
        };
        for_each([&](double x, double y) { ++count, mean_x += x, mean_y += y; });
        if (count < fewest_iterations)
            return;
        mean_x /= count;
        mean_y /= count;
        double xx = 0, xy = 0, yy = 0;
        for_each([&](double x, double y) {
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
            yy += (y - mean_y) * (y - mean_y);
        });
        const double slope = xy / xx;
        const double error = std::sqrt(std::max(yy - slope * xy, 0.0) / (count - 2) / xx);
        const double whole = slope * static_cast<double>(m_phase.iterations.size() - 1);
        // Not more than nothing either, where no time is known.
        if (std::abs(slope) < certain * error || std::abs(whole) <= least_drift * m_phase.typical)
            return;
        const double first = mean_y - slope * mean_x;
        m_phase.drift = Drift{first, first + whole};
    }

    const History& m_history;
    Phase m_phase;
    std::vector<Times> m_times;
};

/// Those of the same number of rounds belong together, in their order: processes may call from different
/// places, such as those that send and those that receive.
std::vector<Phase> phases_of_all(const History& history)
{
    const auto least_time =
        static_cast<std::int64_t>(least_share * static_cast<double>(time_of_work(history)));
    std::vector<std::multimap<std::size_t, Cycle>> of_threads;
    for (const std::uint32_t timeline : busiest_threads(history))
        of_threads.push_back(find_cycles(history, timeline, least_time));
    std::vector<Phase> phases;
    if (of_threads.empty())
        return phases;
    for (auto entry = of_threads.front().begin(); entry != of_threads.front().end();) {
        const std::size_t count = entry->first;
        const std::size_t alike = of_threads.front().count(count);
        const bool all_have_it =
            std::ranges::all_of(of_threads, [&](const auto& cycles) { return cycles.count(count) == alike; });
        for (std::size_t i = 0; i < alike; ++i, ++entry) {
            if (!all_have_it)
                continue;
            std::vector<const Cycle*> cycles;
            for (const auto& of_thread : of_threads)
                cycles.push_back(
                    &std::next(of_thread.lower_bound(count), static_cast<std::ptrdiff_t>(i))->second);
            phases.push_back(PhaseReader(history, cycles).judged());
        }
    }
    return phases;
}

/// Not what comes in bursts, such as a call for each neighbour, between which everything else happens.
bool has_iterations_alike(const Phase& phase)
{
    double sum = 0;
    for (const Phase::Iteration& iteration : phase.iterations)
        sum += iteration.time;
    return phase.typical * static_cast<double>(phase.iterations.size()) >= least_typical * sum;
}

/// How many iterations of @p inner begin in each of @p outer, but the first and the last.
std::vector<std::size_t> counts_inside(const Phase& outer, const Phase& inner)
{
    std::vector<std::size_t> counts;
    const auto first_from = [&](std::int64_t time) {
        return std::ranges::lower_bound(inner.iterations, time, {}, &Phase::Iteration::begin);
    };
    for (std::size_t i = 1; i + 2 < outer.iterations.size(); ++i)
        counts.push_back(static_cast<std::size_t>(first_from(outer.iterations[i + 1].begin) -
                                                  first_from(outer.iterations[i].begin)));
    return counts;
}

/// A loop inside another one whose number of rounds varies, such as that of a solver: that it stops and
/// begins again says nothing. With a fixed number it may be the main loop, after some rounds of which
/// something else is done.
bool is_part_of(const Phase& inner, const Phase& outer)
{
    if (inner.iterations.size() < 2 * outer.iterations.size() || inner.end <= outer.begin ||
        inner.begin >= outer.end)
        return false;
    const std::vector<std::size_t> counts = counts_inside(outer, inner);
    return std::ranges::adjacent_find(counts, std::ranges::not_equal_to()) != counts.end();
}

} // namespace

std::vector<Phase> find_phases(const History& history)
{
    std::vector<Phase> phases = phases_of_all(history);
    std::erase_if(phases, [](const Phase& phase) { return !has_iterations_alike(phase); });
    std::vector<Phase> told;
    for (const Phase& phase : phases)
        if (std::ranges::none_of(phases, [&](const Phase& other) { return is_part_of(phase, other); }))
            told.push_back(phase);
    std::ranges::stable_sort(
        told, {}, [](const Phase& phase) { return std::pair(phase.begin, phase.iterations.size()); });
    return told;
}

} // namespace hdtrace
