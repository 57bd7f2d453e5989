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

inline char* put_pair(char* out, unsigned value)
{
    memcpy(out, digit_pairs.text + 2 * value, 2);
    return out + 2;
}

/// A number of up to two digits and @p Pairs further ones of two digits, as a fixed-point number with the
/// first digits before the point: the others come out by multiplication, which takes less than dividing.
template <int Pairs> class DigitsInPairs {
    static_assert(Pairs == 1 || Pairs == 2, "with more the fraction is too short");

  public:
    /// @p value: below 100 to the power of Pairs + 1.
    explicit DigitsInPairs(uint32_t value) : m_rest(value * rounded_up) {}
    unsigned first() const { return static_cast<unsigned>(m_rest >> fraction_bits); }
    char* put_rest(char* out)
    {
        for (int i = 0; i < Pairs; ++i) {
            m_rest = static_cast<uint64_t>(static_cast<uint32_t>(m_rest)) * 100;
            out = put_pair(out, first());
        }
        return out;
    }

  private:
    static constexpr int fraction_bits = 32;
    static constexpr uint64_t rounded_up = (uint64_t{1} << fraction_bits) / (Pairs == 1 ? 100 : 10'000) + 1;

    uint64_t m_rest;
};
} // namespace detail

template <size_t Size> inline char* put_text(char* out, const char (&text)[Size])
{
    memcpy(out, text, Size - 1);
    return out + Size - 1;
}

/// The same for a text whose length is only known at run time, without its NUL.
inline char* put_constant(char* out, const char* text)
{
    const size_t length = strlen(text);
    memcpy(out, text, length); // NOLINT(bugprone-not-null-terminated-result): the text goes on
    return out + length;
}

/// Any number; put_number() is for the usual ones, which are small.
char* put_long_number(char* out, int64_t value);

inline char* put_number(char* out, int64_t value)
{
    if (static_cast<uint64_t>(value) >= 10)
        return put_long_number(out, value);
    *out = static_cast<char>('0' + value);
    return out + 1;
}

/// How many digits put_last_digits() writes.
inline constexpr int last_digits = 6;
inline constexpr uint32_t last_digits_end = 1'000'000;

/// A number below last_digits_end, with leading zeros.
inline char* put_last_digits(char* out, uint32_t value)
{
    detail::DigitsInPairs<2> digits(value);
    return digits.put_rest(detail::put_pair(out, digits.first()));
}

/// Nine digits, with leading zeros.
inline char* put_nanoseconds(char* out, uint32_t value)
{
    const uint32_t milliseconds = value / last_digits_end;
    *out = static_cast<char>('0' + milliseconds / 100);
    return put_last_digits(detail::put_pair(out + 1, milliseconds % 100), value % last_digits_end);
}

/// Seconds with nine digits behind the point; not negative.
inline char* put_seconds(char* out, int64_t nanoseconds)
{
    constexpr int64_t second = 1'000'000'000;
    out = put_text(put_number(out, nanoseconds / second), ".");
    return put_nanoseconds(out, static_cast<uint32_t>(nanoseconds % second));
}

/// The length of the well-formed UTF-8 character at @p text, which has @p available bytes; 0 if there is
/// none.
size_t utf8_length(const char* text, size_t available);

/// Escapes for an XML attribute. Needs max_escape_length bytes for each byte.
char* put_xml_escaped(char* out, const char* text, size_t length);

/// Escapes for a quoted value of an .info line. Needs max_escape_length bytes for each byte.
char* put_info_escaped(char* out, const char* text, size_t length);

} // namespace hdtrace
