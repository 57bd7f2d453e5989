// Numbers as people write them in settings: with units, and ranges of them. The locale does not matter.
#pragma once

#include <span>
#include <stdint.h>

namespace hdtrace {

/// A unit that durations are written with.
struct TimeUnit {
    const char* suffix;
    int64_t nanoseconds;
};
/// From the largest on.
std::span<const TimeUnit> time_units();

/// What a text begins with. Each returns where that ends; null if there is none, or it is too large.
using ParseNumber = const char* (*)(const char* text, int64_t& value);
const char* parse_digits(const char* text, int64_t& value);
/// Digits and perhaps K, M or G.
const char* parse_size(const char* text, int64_t& bytes);
/// Digits and a unit; without a unit only 0.
const char* parse_duration(const char* text, int64_t& nanoseconds);

/// How much is kept: either bytes or a time, the other is 0.
struct Bound {
    int64_t bytes = 0;
    int64_t nanoseconds = 0;
};
/// A size such as 64M or a time such as 60s, and nothing else; 0 is read, but bounds nothing.
bool parse_bound(const char* text, Bound& bound);

/// Numbers chosen by a text: `0:64:8` is every eighth from 0 to 64, `5:` all from 5 on, `:7` those up to 7,
/// `3,5` two of them.
class Ranges {
  public:
    /// False if the text is something else, or has too many parts.
    bool parse(const char* text, ParseNumber parse_number);
    bool contains(int64_t number) const;

  private:
    struct Range {
        int64_t first = 0;
        int64_t last = INT64_MAX;
        int64_t step = 1;
    };
    static constexpr int most_ranges = 8;

    static const char* parse_range(const char* text, ParseNumber parse_number, Range& range);

    Range m_ranges[most_ranges];
    int m_count = 0;
};

} // namespace hdtrace
