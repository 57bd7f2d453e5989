#include "hdtrace/explaining/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace hdtrace {
namespace {

using Bounds = std::span<const ClockBound>;

constexpr std::size_t most_settings = 16;
constexpr std::size_t most_parts = 1024; // about
/// Between knots. In less than that clocks of different speeds differ by less than messages take.
constexpr std::int64_t least_distance = 10'000'000;

/// What may have to be added to a clock that is never set, as it goes from bound to bound.
class Reach {
  public:
    explicit Reach(const ClockBound& origin) : m_origin(origin), m_time(origin.time) {}

    /// False if it cannot be where that bound wants it.
    bool go(const ClockBound& bound)
    {
        const double most = ClockLine::most_drift * static_cast<double>(std::abs(bound.time - m_time));
        const auto value = static_cast<double>(bound.value - m_origin.value);
        m_low -= most;
        m_high += most;
        m_time = bound.time;
        (bound.is_lower ? m_low : m_high) = bound.is_lower ? std::max(m_low, value) : std::min(m_high, value);
        return m_low <= m_high;
    }

  private:
    ClockBound m_origin;
    std::int64_t m_time;
    double m_low = -std::numeric_limits<double>::infinity();
    double m_high = std::numeric_limits<double>::infinity();
};

/// Behind the most bounds from the first on that a clock can keep to which is not set.
std::size_t end_of_stretch(Bounds bounds, std::size_t first)
{
    Reach reach(bounds[first]);
    while (first < bounds.size() && reach.go(bounds[first]))
        ++first;
    return first;
}

/// The bounds around the moment when a clock was set fit what was before as well as what came after. Nothing
/// happened while it was set, so that was in the longest pause between them.
std::size_t first_after_setting(Bounds bounds, std::size_t first, std::size_t end)
{
    constexpr std::size_t looked_at = 64;
    Reach reach(bounds[end]);
    for (std::size_t i = std::min(end + looked_at, bounds.size()); i > end; --i)
        if (!reach.go(bounds[i - 1]))
            return end;
    std::size_t begin = end;
    while (begin > first + 1 && end - begin < looked_at && reach.go(bounds[begin - 1]))
        --begin;
    std::size_t after = end;
    for (std::size_t i = begin; i <= end; ++i)
        if (bounds[i].time - bounds[i - 1].time > bounds[after].time - bounds[after - 1].time)
            after = i;
    return after;
}

/// Those within a time, its end included.
Bounds within(Bounds bounds, std::int64_t begin, std::int64_t end)
{
    const auto first = std::ranges::lower_bound(bounds, begin, {}, &ClockBound::time);
    const auto last = std::ranges::upper_bound(bounds, end, {}, &ClockBound::time);
    return {first, std::max(first, last)};
}

bool are_on_both_sides(Bounds bounds)
{
    return std::ranges::any_of(bounds, &ClockBound::is_lower) &&
           !std::ranges::all_of(bounds, &ClockBound::is_lower);
}

double value_at(const ClockLine& line, std::int64_t time, const ClockBound& origin)
{
    return line.offset + line.drift * static_cast<double>(time - origin.time);
}

/// Of which bound a line is farthest on the wrong side; none if it is between all.
const ClockBound* most_wrong(const ClockLine& line, Bounds bounds, const ClockBound& origin)
{
    const ClockBound* found = nullptr;
    double least_room = -0.01; // what comes of rounding
    for (const ClockBound& bound : bounds) {
        const double above =
            value_at(line, bound.time, origin) - static_cast<double>(bound.value - origin.value);
        const double room = bound.is_lower ? above : -above;
        if (room < least_room) {
            least_room = room;
            found = &bound;
        }
    }
    return found;
}

bool is_between(const ClockLine& line, Bounds bounds, const ClockBound& origin)
{
    return most_wrong(line, bounds, origin) == nullptr;
}

std::optional<double> larger(std::optional<double> one, std::optional<double> other)
{
    return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
}

} // namespace

ClockFit::ClockFit(const std::vector<ClockBound>& bounds, const HostOrders::Life& life)
    : m_life(life), m_origin(bounds.front())
{
    for (std::size_t first = 0; first < bounds.size();) {
        std::size_t end = m_stretches.size() < most_settings ? end_of_stretch(bounds, first) : bounds.size();
        if (end < bounds.size())
            end = first_after_setting(bounds, first, end);
        const std::int64_t begins = bounds[first].time;
        const std::int64_t from = first > 0 ? std::midpoint(bounds[first - 1].time, begins) : begins;
        m_stretches.push_back({from, {{begins, 0}, {std::max(bounds[end - 1].time, begins + 1), 0}}});
        first = end;
    }
    std::size_t more = most_parts;
    for (Stretch& stretch : m_stretches) {
        const std::size_t few = stretch.knots.size();
        do
            place(stretch, bounds);
        while (bend(stretch, bounds, few + more));
        more -= stretch.knots.size() - few;
    }
    finish(bounds);
}

void ClockFit::fit(const std::vector<ClockBound>& bounds)
{
    for (Stretch& stretch : m_stretches) {
        std::erase_if(stretch.knots, [](const Knot& knot) { return knot.is_of_bound; });
        place(stretch, bounds);
    }
    finish(bounds);
}

void ClockFit::finish(const std::vector<ClockBound>& bounds)
{
    constexpr int most_rounds = 20;
    for (Stretch& stretch : m_stretches)
        for (int round = 0; round < most_rounds && touch(stretch, bounds); ++round)
            ;
    find_uncertainty(bounds);
}

ClockLine ClockFit::line(const Knot& from, const Knot& to) const
{
    constexpr double steepest = 10 * ClockLine::most_drift; // unless bounds contradict each other
    const double drift =
        std::clamp((to.value - from.value) / static_cast<double>(to.time - from.time), -steepest, steepest);
    return {from.value - drift * static_cast<double>(from.time - m_origin.time), drift, 0};
}

/// Each knot where the best line through what is on both sides of it is.
void ClockFit::place(Stretch& stretch, const std::vector<ClockBound>& bounds) const
{
    std::vector<Knot>& knots = stretch.knots;
    for (std::size_t i = 0; i < knots.size(); ++i) {
        const Bounds around =
            within(bounds, knots[i > 0 ? i - 1 : 0].time, knots[std::min(i + 1, knots.size() - 1)].time);
        knots[i].value = value_at(ClockBounds(around, m_origin).line(), knots[i].time, m_origin);
    }
}

/// The bounds that are most wrong, where the clock can be so fast or slow. False if nothing was done.
bool ClockFit::touch(Stretch& stretch, const std::vector<ClockBound>& bounds) const
{
    std::vector<Knot> knots{stretch.knots.front()};
    for (std::size_t i = 1; i < stretch.knots.size(); ++i) {
        const Knot &from = stretch.knots[i - 1], &to = stretch.knots[i];
        const auto can_reach = [](const Knot& one, const Knot& other) {
            return one.time != other.time &&
                   std::abs(one.value - other.value) <=
                       ClockLine::most_drift * std::abs(static_cast<double>(one.time - other.time));
        };
        if (const ClockBound* const bound =
                knots.size() > most_parts
                    ? nullptr
                    : most_wrong(line(from, to), within(bounds, from.time, to.time), m_origin)) {
            const Knot knot{bound->time, static_cast<double>(bound->value - m_origin.value), true};
            if (can_reach(from, knot) && can_reach(knot, to))
                knots.push_back(knot);
        }
        knots.push_back(to);
    }
    const bool is_bent = knots.size() > stretch.knots.size();
    stretch.knots = std::move(knots);
    return is_bent;
}

/// In the middle wherever it is not between the bounds. False if nothing was done.
bool ClockFit::bend(Stretch& stretch, const std::vector<ClockBound>& bounds, std::size_t most_knots) const
{
    std::vector<Knot> knots{stretch.knots.front()};
    for (std::size_t i = 1; i < stretch.knots.size(); ++i) {
        const Knot &from = stretch.knots[i - 1], &to = stretch.knots[i];
        const std::int64_t middle = std::midpoint(from.time, to.time);
        if (middle - from.time >= least_distance && knots.size() + stretch.knots.size() - i < most_knots &&
            !is_between(line(from, to), within(bounds, from.time, to.time), m_origin) &&
            are_on_both_sides(within(bounds, from.time, middle)) &&
            are_on_both_sides(within(bounds, middle, to.time)))
            knots.push_back({middle, 0});
        knots.push_back(to);
    }
    const bool is_bent = knots.size() > stretch.knots.size();
    stretch.knots = std::move(knots);
    return is_bent;
}

/// No message may tell anything for a long time at the beginning and at the end of the host's life.
void ClockFit::find_uncertainty(const std::vector<ClockBound>& bounds)
{
    m_uncertainty = 0;
    for (const Stretch& stretch : m_stretches)
        for (std::size_t i = 1; i < stretch.knots.size(); ++i) {
            const Knot &from = stretch.knots[i - 1], &to = stretch.knots[i];
            const bool is_first = &stretch == &m_stretches.front() && i == 1;
            const bool is_last = &stretch == &m_stretches.back() && i + 1 == stretch.knots.size();
            const std::int64_t begin = is_first ? std::min(m_life.begin, from.time) : from.time;
            const std::int64_t end = is_last ? std::max(m_life.end, to.time) : to.time;
            const Bounds between = within(bounds, from.time, to.time);
            const ClockLine straight = line(from, to);
            m_uncertainty = larger(
                m_uncertainty, is_between(straight, between, m_origin)
                                   ? ClockBounds(between, m_origin)
                                         .uncertainty(straight, begin - m_origin.time, end - m_origin.time)
                                   : std::nullopt);
        }
}

std::vector<HostClock::Part> ClockFit::parts() const
{
    std::vector<HostClock::Part> parts;
    for (const Stretch& stretch : m_stretches)
        for (std::size_t i = 1; i < stretch.knots.size(); ++i) {
            const ClockLine straight = line(stretch.knots[i - 1], stretch.knots[i]);
            const std::int64_t from = i == 1 ? stretch.from : stretch.knots[i - 1].time;
            parts.push_back(
                {from, m_origin.value + std::llround(value_at(straight, from, m_origin)), straight.drift});
        }
    return parts;
}

} // namespace hdtrace
