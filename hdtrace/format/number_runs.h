// number_runs.h - lists of numbers in which those at equal distances stand once: `4;0+8*1000;`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hdtrace {

/// The numbers `first`, `first + step`, ..., of which there are `count`, at least one.
struct NumberRun {
    /// More are refused, so that sums of counts can be computed.
    static constexpr std::int64_t most = std::int64_t{1} << 40;

    std::int64_t first = 0;
    std::int64_t step = 0;
    std::int64_t count = 1;

    /// Position from 0 to count - 1.
    std::int64_t at(std::int64_t position) const { return first + step * position; }
    /// @p from and @p size: a part that is not empty.
    NumberRun part(std::int64_t from, std::int64_t size) const { return {at(from), step, size}; }
};

/// The run at the begin of a list, which is taken away with its `;`. Nothing if there is none, or if not all
/// of its numbers are 64-bit numbers.
std::optional<NumberRun> take_run(std::string_view& list);

/// Adds `4;` or `0+8*1000;`.
void append_run(std::string& list, const NumberRun& run);

} // namespace hdtrace
