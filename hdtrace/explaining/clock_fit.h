// clock_fit.h - the clock of a host that stays between what messages tell about it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hdtrace/explaining/clock_line.h"
#include "hdtrace/explaining/host_orders.h"
#include "hdtrace/format/host_clock.h"

namespace hdtrace {

/// The clock that stays farthest from all bounds. It runs evenly if it can; if not, as daemons make clocks
/// faster and slower, and so does the temperature, its time is halved, again and again, until each half fits.
/// It is set where no clock can be as fast or slow as that. For one thread at a time.
class ClockFit {
  public:
    /// Of the bounds, in the order of time; not none.
    ClockFit(const std::vector<ClockBound>& bounds, const HostOrders::Life& life);

    /// The same moments for other bounds.
    void fit(const std::vector<ClockBound>& bounds);

    std::vector<HostClock::Part> parts() const;
    /// By how much the clock may be wrong at some moment of its life. Nothing if something bounds it on one
    /// side only, or it is not between the bounds.
    std::optional<double> uncertainty() const { return m_uncertainty; }

  private:
    struct Knot {
        std::int64_t time = 0;
        double value = 0;         ///< to be added then, beyond m_origin.value
        bool is_of_bound = false; ///< as a bound there wants it, for want of a better line
    };

    /// Of the time between two settings; straight between its knots, of which there are two at least.
    struct Stretch {
        std::int64_t from = 0; ///< in the pause before it
        std::vector<Knot> knots;
    };

    ClockLine line(const Knot& from, const Knot& to) const;
    void place(Stretch& stretch, const std::vector<ClockBound>& bounds) const;
    bool touch(Stretch& stretch, const std::vector<ClockBound>& bounds) const;
    bool bend(Stretch& stretch, const std::vector<ClockBound>& bounds, std::size_t most_knots) const;
    void finish(const std::vector<ClockBound>& bounds);
    void find_uncertainty(const std::vector<ClockBound>& bounds);

    HostOrders::Life m_life;
    ClockBound m_origin;
    std::vector<Stretch> m_stretches;
    std::optional<double> m_uncertainty;
};

} // namespace hdtrace
