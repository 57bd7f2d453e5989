#include "hdtrace/format/nanoseconds.h"

#include <array>
#include <charconv>

#include "hdtrace/format/eight_bytes.h"

namespace hdtrace {
namespace {

constexpr std::size_t fraction_digits = 9;

constexpr std::array<std::int64_t, fraction_digits + 1> powers_of_ten = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

// Takes the digits from the beginning of @p text; nothing if there are none, or too many.
std::optional<std::int64_t> take_digits(std::string_view& text)
{
    constexpr std::size_t digits_that_fit = 18;
    const std::string_view digits = text;
    std::uint64_t wrapped = 0;
    std::size_t size = 0;
    for (; size < digits.size() && digits[size] >= '0' && digits[size] <= '9'; ++size)
        wrapped = wrapped * 10 + static_cast<std::uint64_t>(digits[size] - '0');
    text.remove_prefix(size);
    std::int64_t number = static_cast<std::int64_t>(wrapped);
    if (size == 0 || (size > digits_that_fit &&
                      std::from_chars(digits.data(), digits.data() + size, number).ec != std::errc()))
        return {};
    return number;
}

// Nanoseconds from what stands behind the point.
std::optional<std::int64_t> take_fraction(std::string_view& text)
{
    const std::size_t size = text.size();
    if (size == fraction_digits && text.back() >= '0' && text.back() <= '9')
        if (const auto number = detail::number_of_characters(text.data(), 8)) {
            const std::int64_t last = text.back() - '0';
            text = {};
            return static_cast<std::int64_t>(*number) * 10 + last;
        }
    const auto number = take_digits(text);
    if (!number || size > fraction_digits)
        return {};
    return *number * powers_of_ten[fraction_digits - size];
}

} // namespace

std::optional<std::int64_t> parse_time(std::string_view seconds)
{
    const bool negative = seconds.starts_with('-');
    if (negative)
        seconds.remove_prefix(1);
    const auto whole = take_digits(seconds);
    std::optional<std::int64_t> fraction = 0;
    if (seconds.starts_with('.')) {
        seconds.remove_prefix(1);
        fraction = take_fraction(seconds);
    }
    std::int64_t time = 0;
    if (!whole || !fraction || !seconds.empty() ||
        __builtin_mul_overflow(*whole, nanoseconds_per_second, &time) ||
        __builtin_add_overflow(time, *fraction, &time))
        return {};
    return negative ? -time : time;
}

std::string seconds_text(std::int64_t nanoseconds)
{
    const auto size =
        nanoseconds < 0 ? -static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    constexpr std::uint64_t second = nanoseconds_per_second;
    const std::string fraction = std::to_string(size % second);
    return (nanoseconds < 0 ? "-" : "") + std::to_string(size / second) + "." +
           std::string(9 - fraction.size(), '0') + fraction;
}

} // namespace hdtrace
