#include "hdtrace/reader/nanoseconds.h"

#include <algorithm>
#include <charconv>

namespace hdtrace {
namespace {

constexpr std::size_t fraction_digits = 9;

bool all_digits(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> parse_digits(std::string_view text)
{
    std::int64_t number = 0;
    if (!all_digits(text) ||
        std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
        return {};
    return number;
}

std::optional<std::int64_t> parse_fraction(std::string_view text)
{
    if (text.size() > fraction_digits)
        return {};
    std::optional<std::int64_t> number = parse_digits(text);
    for (std::size_t digits = text.size(); number && digits < fraction_digits; ++digits)
        *number *= 10;
    return number;
}

} // namespace

std::optional<std::int64_t> parse_time(std::string_view seconds)
{
    const bool negative = seconds.starts_with('-');
    if (negative)
        seconds.remove_prefix(1);
    const std::size_t point = seconds.find('.');
    const auto whole = parse_digits(seconds.substr(0, point));
    const auto fraction = point == seconds.npos ? 0 : parse_fraction(seconds.substr(point + 1));
    std::int64_t time = 0;
    if (!whole || !fraction || __builtin_mul_overflow(*whole, nanoseconds_per_second, &time) ||
        __builtin_add_overflow(time, *fraction, &time))
        return {};
    return negative ? -time : time;
}

} // namespace hdtrace
