// Formatting into memory that is known to be large enough. Every function writes at `out` and returns the
// end. printf is not an option here: it is ten times slower and depends on the locale.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace hdtrace {

/// The most characters that put_number() writes.
inline constexpr size_t max_number_length = 20;
/// The most bytes that one byte of a text can become when it is escaped.
inline constexpr size_t max_escape_length = 6;

namespace detail {
struct DigitPairs {
    char text[200];
};
constexpr DigitPairs make_digit_pairs()
{
    DigitPairs pairs{};
    for (int i = 0; i < 100; ++i) {
        pairs.text[2 * i] = static_cast<char>('0' + i / 10);
        pairs.text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
}
inline constexpr DigitPairs digit_pairs = make_digit_pairs();

struct PowersOfTen {
    uint64_t value[20];
};
constexpr PowersOfTen make_powers_of_ten()
{
    PowersOfTen powers{{1}};
    for (int i = 1; i < 20; ++i)
        powers.value[i] = 10 * powers.value[i - 1];
    return powers;
}
inline constexpr PowersOfTen powers_of_ten = make_powers_of_ten();

inline unsigned digit_count(uint64_t value)
{
    const uint64_t positive = value | 1; // has as many digits
    const unsigned bits = 64 - static_cast<unsigned>(__builtin_clzll(positive));
    const unsigned digits = bits * 1233 >> 12; // log10(2) is 1233 / 4096: right, or one too few
    return digits + (positive >= powers_of_ten.value[digits] ? 1 : 0);
}

inline void put_pair(char* out, unsigned value)
{
    memcpy(out, digit_pairs.text + 2 * value, 2);
}
} // namespace detail

template <size_t Size> inline char* put_text(char* out, const char (&text)[Size])
{
    memcpy(out, text, Size - 1);
    return out + Size - 1;
}

inline char* put_unsigned(char* out, uint64_t value)
{
    if (value < 10) { // most values
        *out = static_cast<char>('0' + value);
        return out + 1;
    }
    char* const end = out + detail::digit_count(value);
    char* begin = end;
    while (value >= 100) {
        begin -= 2;
        detail::put_pair(begin, static_cast<unsigned>(value % 100));
        value /= 100;
    }
    if (value >= 10)
        detail::put_pair(begin - 2, static_cast<unsigned>(value));
    else
        begin[-1] = static_cast<char>('0' + value);
    return end;
}

inline char* put_number(char* out, int64_t value)
{
    if (value >= 0)
        return put_unsigned(out, static_cast<uint64_t>(value));
    *out = '-';
    return put_unsigned(out + 1, 0 - static_cast<uint64_t>(value));
}

/// Nine digits, with leading zeros.
inline char* put_nanoseconds(char* out, uint32_t value)
{
    const uint32_t low = value % 100'000'000;
    *out = static_cast<char>('0' + value / 100'000'000);
    const uint32_t high_half = low / 10'000, low_half = low % 10'000;
    detail::put_pair(out + 1, high_half / 100);
    detail::put_pair(out + 3, high_half % 100);
    detail::put_pair(out + 5, low_half / 100);
    detail::put_pair(out + 7, low_half % 100);
    return out + 9;
}

/// The length of the well-formed UTF-8 character at @p text, which has @p available bytes; 0 if there is
/// none.
size_t utf8_length(const char* text, size_t available);

/// Escapes for an XML attribute. Needs max_escape_length bytes for each byte.
char* put_xml_escaped(char* out, const char* text, size_t length);

/// Escapes for a quoted value of an .info line. Needs max_escape_length bytes for each byte.
char* put_info_escaped(char* out, const char* text, size_t length);

} // namespace hdtrace
