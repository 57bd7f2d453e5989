// eight_bytes.h - eight characters of a text at once. For processors whose words begin with their lowest
// byte.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace hdtrace::detail {

inline constexpr bool has_eight_bytes = std::endian::native == std::endian::little;

inline std::uint64_t eight_bytes(const char* text)
{
    std::uint64_t bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

// The highest bit of each byte in a result says whether something holds for it.
inline constexpr std::uint64_t every_byte = 0x0101010101010101;
inline constexpr std::uint64_t highest_bits = 0x80 * every_byte;

/// Right for the first byte below and all before it, if no byte before it has its highest bit set.
constexpr std::uint64_t bytes_below(std::uint64_t bytes, unsigned char limit)
{
    return (bytes - limit * every_byte) & ~bytes & highest_bits;
}

/// Right for the first such byte and all before it.
constexpr std::uint64_t bytes_equal(std::uint64_t bytes, char c)
{
    return bytes_below(bytes ^ (static_cast<unsigned char>(c) * every_byte), 1);
}

/// How many bytes stand before the first one that a result names; eight if it names none.
constexpr unsigned bytes_before(std::uint64_t result)
{
    return static_cast<unsigned>(std::countr_zero(result)) / 8;
}

/// The number whose digits, up to eight, these bytes are without their '0': the last digit in the highest
/// byte, zeros before the first.
constexpr std::uint64_t number_of_digits(std::uint64_t digits)
{
    digits = digits * (10 * 0x100 + 1) >> 8; // numbers of two digits, of four, of eight
    digits = (digits & 0x00ff00ff00ff00ff) * (100 * 0x10000 + 1) >> 16;
    return (digits & 0x0000ffff0000ffff) * (10000 * 0x100000000 + 1) >> 32;
}

/// The digits of a number below a hundred million, eight of them, without their '0': the first in the lowest
/// byte.
constexpr std::uint64_t digits_of_number(std::uint64_t number)
{
    const std::uint64_t fours = number / 10000 | (number % 10000) << 32;
    const std::uint64_t hundreds = (fours * 5243 >> 19) & 0x0000007f0000007f; // divided by 100
    const std::uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
    const std::uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000f; // divided by 10
    return tens | (pairs - 10 * tens) << 8;
}

/// The number that @p count characters are, at least one and at most eight; nothing if one of them is no
/// digit, or if this processor cannot tell so. Eight of them may be read.
inline std::optional<std::uint64_t> number_of_characters(const char* text, unsigned count)
{
    if constexpr (!has_eight_bytes)
        return {};
    const std::uint64_t digits = (eight_bytes(text) ^ ('0' * every_byte)) << (64 - 8 * count);
    if (((digits + (0x7f - 9) * every_byte) | digits) & highest_bits)
        return {};
    return number_of_digits(digits);
}

/// How many of eight characters stand before the first @p c; 0 also if it is none of them, or if this
/// processor cannot tell so.
inline unsigned characters_before(const char* text, char c)
{
    if constexpr (!has_eight_bytes)
        return 0;
    const std::uint64_t found = bytes_equal(eight_bytes(text), c);
    return found ? bytes_before(found) : 0;
}

} // namespace hdtrace::detail
