// host_clock.h - how the clock of a host differs from those of the others.
//
// Traces have the times that the clocks of their hosts showed. Where a project tells how these differ, all
// readers of it hand out corrected times, and this is the one place that corrects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/format/state.h"

namespace hdtrace {

/// What has to be added to the times of a host. Times are nanoseconds.
struct HostClock {
    /// Beyond these no time, offset or drift is meant seriously, and within them nothing overflows.
    static constexpr std::int64_t latest = std::int64_t{1} << 61;
    static constexpr double most_drift = 0.5;

    struct Part {
        std::int64_t from = 0;   ///< by the clock itself, since the epoch
        std::int64_t offset = 0; ///< to be added at that time
        double drift = 0;        ///< how much more for each nanosecond later
    };

    std::string host;
    /// Several where the clock did not run evenly, or was set while the program ran; the first holds from the
    /// beginning on.
    std::vector<Part> parts{Part()};
    /// By how much the corrected times may be wrong against those of the host that it was compared with, and
    /// that one's against others; nothing if nothing bounds it on both sides.
    std::optional<double> uncertainty;

    std::int64_t corrected(std::int64_t time) const;
    /// By how much the corrected times jump where that part begins, since the clock was set there; 0 where it
    /// only runs at another speed from then on.
    std::int64_t jump(std::size_t part) const;
    /// The first time by the clock itself that may be so late when it is corrected.
    std::int64_t recorded(std::int64_t time) const;
    /// Whether it leaves all times as they are.
    bool is_right() const;
};

/// Corrects the states of one trace, which must come in their order. A clock that was set back does not make
/// time go back: what would begin before the state before it has ended begins then.
class TimeCorrection {
  public:
    explicit TimeCorrection(std::shared_ptr<const HostClock> clock) : m_clock(std::move(clock)) {}
    void correct(State& state);

  private:
    std::shared_ptr<const HostClock> m_clock;
    std::int64_t m_recorded_end = std::numeric_limits<std::int64_t>::min(); ///< of the states before
    std::int64_t m_begin = m_recorded_end, m_end = m_recorded_end;          ///< corrected
};

} // namespace hdtrace
