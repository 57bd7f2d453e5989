// nanoseconds.h - times as exact integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hdtrace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/// Nanoseconds from seconds as text: an optional '-', digits, and optionally '.' with one to nine digits.
///  Nothing if the text is anything else or beyond 64 bits. Exact; the locale does not matter.
std::optional<std::int64_t> parse_time(std::string_view seconds);

/// Such a text, with nine digits behind the point.
std::string seconds_text(std::int64_t nanoseconds);

} // namespace hdtrace
