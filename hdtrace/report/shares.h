// shares.h - what a thread does, seen from far away: the parts of equal times that it spends in each class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hdtrace/report/packed.h"

namespace hdtrace::report {

class Shares {
  public:
    /// Those of the classes of calls, and waiting.
    static constexpr std::size_t kinds = 16, waiting = 15;

    /// So many equal parts of a time from 0 to so many nanoseconds.
    Shares(std::size_t parts, std::int64_t duration);

    void add(std::size_t kind, std::int64_t begin, std::int64_t end);
    /// For each kind that there is, its number and a byte for each part: 255 is all of it.
    void pack(Packed& into) const;

  private:
    std::size_t m_parts;
    double m_width; ///< of a part
    std::array<std::vector<float>, kinds> m_times;
};

} // namespace hdtrace::report
