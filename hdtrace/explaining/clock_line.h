// clock_line.h - a line between points that it has to stay above and points that it has to stay below.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hdtrace {

/// What a message tells about the time that has to be added to a clock: at `time` by that clock it is at
/// least or at most so much.
struct ClockBound {
    std::int64_t time = 0;
    std::int64_t value = 0;
    bool is_lower = false;
};

struct ClockLine {
    static constexpr double most_drift = 1e-3; ///< of clocks that are not broken

    double offset = 0; ///< at time 0
    double drift = 0;
    /// How far it stays away from all points; negative: it cannot be between them.
    double clearance = 0;
};

/// Points in time relative to some moment, in the order of time.
class ClockBounds {
  public:
    /// Of bounds that are sorted by time. Times and values count from @p origin.
    ClockBounds(std::span<const ClockBound> bounds, const ClockBound& origin);

    bool are_on_both_sides() const { return !m_lower.empty() && !m_upper.empty(); }
    /// The one that stays farthest away from the points; one without drift if that is almost as good. Of
    /// points on one side the one without drift that touches them.
    ClockLine line() const;
    /// By how much lines that stay between the points differ from @p line at the most in that time. Nothing
    /// if there are points on one side only, or the line does not stay between them.
    std::optional<double> uncertainty(const ClockLine& line, double begin, double end) const;

  private:
    struct Point {
        double time, value;
    };

    /// The largest offset below all upper points, and the smallest above all lower ones.
    double highest(double drift) const;
    double lowest(double drift) const;
    double clearance(double drift) const { return (highest(drift) - lowest(drift)) / 2; }

    std::vector<Point> m_lower, m_upper; ///< their hulls
};

} // namespace hdtrace
