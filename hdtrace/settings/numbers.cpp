#include "hdtrace/settings/numbers.h"

#include <string.h>

namespace hdtrace {

namespace {

constexpr TimeUnit units_of_time[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

// 0 if there is no such suffix.
int64_t unit_of(char suffix)
{
    switch (suffix) {
    case 'K':
        return 1 << 10;
    case 'M':
        return 1 << 20;
    case 'G':
        return 1 << 30;
    default:
        return 0;
    }
}

} // namespace

std::span<const TimeUnit> time_units()
{
    return units_of_time;
}

const char* parse_digits(const char* text, int64_t& value)
{
    const char* end = text;
    value = 0;
    for (; *end >= '0' && *end <= '9'; ++end) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *end - '0', &value))
            return nullptr;
    }
    return end != text ? end : nullptr;
}

const char* parse_size(const char* text, int64_t& bytes)
{
    const char* const end = parse_digits(text, bytes);
    const int64_t unit = end != nullptr ? unit_of(*end) : 0;
    if (unit == 0)
        return end;
    return __builtin_mul_overflow(bytes, unit, &bytes) ? nullptr : end + 1;
}

const char* parse_duration(const char* text, int64_t& nanoseconds)
{
    int64_t value = 0;
    const char* const end = parse_digits(text, value);
    if (end == nullptr)
        return nullptr;
    for (const TimeUnit& unit : units_of_time) {
        const size_t length = strlen(unit.suffix);
        if (strncmp(end, unit.suffix, length) == 0)
            return __builtin_mul_overflow(value, unit.nanoseconds, &nanoseconds) ? nullptr : end + length;
    }
    nanoseconds = 0;
    return value == 0 ? end : nullptr;
}

bool parse_bound(const char* text, Bound& bound)
{
    bound = {};
    const char* end = parse_duration(text, bound.nanoseconds);
    if (end != nullptr && *end == '\0')
        return true;
    bound.nanoseconds = 0;
    end = parse_size(text, bound.bytes);
    return end != nullptr && *end == '\0';
}

const char* Ranges::parse_range(const char* text, ParseNumber parse_number, Range& range)
{
    const bool has_first = *text != ':';
    if (has_first && (text = parse_number(text, range.first)) == nullptr)
        return nullptr;
    if (*text != ':') {
        range.last = range.first;
        return text;
    }
    ++text;
    const bool has_last = *text != ':' && *text != ',' && *text != '\0';
    if (has_last && (text = parse_number(text, range.last)) == nullptr)
        return nullptr;
    if (*text == ':' && (text = parse_number(text + 1, range.step)) == nullptr)
        return nullptr;
    return (has_first || has_last) && range.step > 0 && range.first <= range.last ? text : nullptr;
}

bool Ranges::parse(const char* text, ParseNumber parse_number)
{
    m_count = 0;
    for (;;) {
        text += strspn(text, " \t");
        if (m_count == most_ranges)
            return false;
        Range& range = m_ranges[m_count++] = {};
        text = parse_range(text, parse_number, range);
        if (text == nullptr)
            return false;
        text += strspn(text, " \t");
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

bool Ranges::contains(int64_t number) const
{
    for (int i = 0; i < m_count; ++i) {
        const Range& range = m_ranges[i];
        if (number >= range.first && number <= range.last && (number - range.first) % range.step == 0)
            return true;
    }
    return false;
}

} // namespace hdtrace
