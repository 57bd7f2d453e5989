// What a compact trace consists of (docs/format.md): units, each of which can be read without the others.
#pragma once

#include <stdint.h>

namespace hdtrace {

/// Before the head of a block (block_head.h), and before a unit that is not a block: the first and last lines
/// of a file, and what is not final yet. Behind the second one the size of the body follows.
inline constexpr unsigned char compact_block_lead[4] = {0xc1, 'h', 'd', 'b'};
inline constexpr unsigned char compact_unit_lead[4] = {0xc1, 'h', 'd', 'u'};

/// Bytes of that size.
inline constexpr int compact_size_bytes = 8;

/// The first byte of a body, which is followed by records or by a frame of zstd's with them.
enum class CompactBody : char { records, zstd };

/// Records begin with a number: seven bits in each byte, the lowest first, the highest bit set in all but the
/// last byte. It says what follows.
namespace compact_code {
inline constexpr uint64_t form = 0;       ///< a size and the text of the next form: they are numbered from 0
inline constexpr uint64_t text = 1;       ///< a size and text
inline constexpr uint64_t depth = 2;      ///< the depth of the element that begins, from 1
inline constexpr uint64_t first_line = 4; ///< what has form n: first_line + 2 * n, and 1 if values changed
} // namespace compact_code

/// What stands in the text of a form in place of a value. Values count in the order in which they stand
/// there, without the times.
namespace compact_mark {
inline constexpr char number = 1;
inline constexpr char seconds = 2; ///< nanoseconds, told as seconds with nine digits behind the point
inline constexpr char begin = 3;   ///< a time; a digit follows that tells how many it has behind the point
inline constexpr char end = 4;     ///< the same
inline constexpr char time = 5;    ///< the same, of an event
} // namespace compact_mark

/// The most values in one form, the most bytes of a number, and how deep elements can be in each other.
inline constexpr int most_compact_values = 64;
inline constexpr int most_compact_number = 10;
inline constexpr int most_compact_depth = 62;

/// Small for small numbers of either sign.
constexpr uint64_t to_unsigned(int64_t value)
{
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t to_signed(uint64_t value)
{
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

} // namespace hdtrace
