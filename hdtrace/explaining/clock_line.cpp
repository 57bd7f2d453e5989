#include "hdtrace/explaining/clock_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hdtrace {
namespace {

constexpr int halvings = 100;

/// Where a function that first grows and then falls is largest.
template <class Function> double highest_place(const Function& function, double low, double high)
{
    for (int i = 0; i < halvings; ++i) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        (function(a) < function(b) ? low : high) = function(a) < function(b) ? a : b;
    }
    return (low + high) / 2;
}

/// The place next to @p outside at which what holds at @p inside still holds.
template <class Condition> double border(const Condition& holds, double inside, double outside)
{
    if (holds(outside))
        return outside;
    for (int i = 0; i < halvings; ++i) {
        const double middle = (inside + outside) / 2;
        (holds(middle) ? inside : outside) = middle;
    }
    return inside;
}

} // namespace

ClockBounds::ClockBounds(std::span<const ClockBound> bounds, const ClockBound& origin)
{
    // Only points on the hull can touch a line.
    const auto add = [](std::vector<Point>& hull, Point point, double side) {
        const auto is_inside = [&](const Point& a, const Point& b) {
            return side * ((b.value - a.value) * (point.time - a.time) -
                           (point.value - a.value) * (b.time - a.time)) <=
                   0;
        };
        while (hull.size() >= 2 && is_inside(hull[hull.size() - 2], hull.back()))
            hull.pop_back();
        hull.push_back(point);
    };
    for (const ClockBound& bound : bounds) {
        const Point point{static_cast<double>(bound.time - origin.time),
                          static_cast<double>(bound.value - origin.value)};
        add(bound.is_lower ? m_lower : m_upper, point, bound.is_lower ? 1 : -1);
    }
}

double ClockBounds::highest(double drift) const
{
    double highest = std::numeric_limits<double>::infinity();
    for (const Point& point : m_upper)
        highest = std::min(highest, point.value - drift * point.time);
    return highest;
}

double ClockBounds::lowest(double drift) const
{
    double lowest = -std::numeric_limits<double>::infinity();
    for (const Point& point : m_lower)
        lowest = std::max(lowest, point.value - drift * point.time);
    return lowest;
}

ClockLine ClockBounds::line() const
{
    if (m_upper.empty() && m_lower.empty())
        return {};
    if (m_upper.empty())
        return {lowest(0), 0, 0};
    if (m_lower.empty())
        return {highest(0), 0, 0};
    const auto room = [&](double drift) { return clearance(drift); };
    const double best = highest_place(room, -ClockLine::most_drift, ClockLine::most_drift);
    const double enough = clearance(best) - 0.01 * std::abs(clearance(best));
    const double drift = clearance(0) >= enough ? 0 : best;
    return {(highest(drift) + lowest(drift)) / 2, drift, clearance(drift)};
}

std::optional<double> ClockBounds::uncertainty(const ClockLine& line, double begin, double end) const
{
    if (!are_on_both_sides() || line.clearance < 0)
        return {};
    const auto is_between = [&](double drift) { return clearance(drift) >= 0; };
    const double least = border(is_between, line.drift, -ClockLine::most_drift);
    const double most = border(is_between, line.drift, ClockLine::most_drift);
    double uncertainty = 0;
    for (const double time : {begin, end}) {
        const auto high = [&](double drift) { return highest(drift) + drift * time; };
        const auto low = [&](double drift) { return -(lowest(drift) + drift * time); };
        const double value = line.offset + line.drift * time;
        uncertainty = std::max({uncertainty, high(highest_place(high, least, most)) - value,
                                low(highest_place(low, least, most)) + value});
    }
    return uncertainty;
}

} // namespace hdtrace
