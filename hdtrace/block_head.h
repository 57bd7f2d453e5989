// What stands before each block of a compressed trace (docs/format.md), so that a block is found without
// reading those before it, also in a file that nobody could close.
#pragma once

#include <stdint.h>
#include <string.h>

namespace hdtrace {

struct BlockHead {
    uint64_t compressed_size; ///< what follows the head and belongs to the block
    uint64_t text_size;
    uint64_t text_offset; ///< of its first byte, in the whole text
    uint64_t first_line;  ///< the number of its first line in the whole text, from 1
    uint64_t first_end;   ///< when the state of its first line ended, nanoseconds after timeAdjustment
    uint64_t last_end;    ///< the same of its last line
};

/// What a head begins with, in both forms of files; the values follow, with the lowest byte first.
inline constexpr char block_mark[8] = {'h', 'd', 't', 'r', 'a', 'c', 'e', '1'};
inline constexpr int block_values = 6;
inline constexpr int block_head_size = sizeof block_mark + 8 * block_values;

/// Bytes before a head: in a zstd file it is a frame that decoders skip, in a gzip file the extra field of a
/// member.
inline constexpr unsigned char zstd_block_lead[] = {0x5d, 0x2a, 0x4d, 0x18, block_head_size, 0, 0, 0};
inline constexpr unsigned char gzip_block_lead[] = {
    0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, block_head_size + 4, 0, 'H', 'D', block_head_size, 0};

inline char* put_little_endian(char* out, uint64_t value)
{
    for (int i = 0; i < 8; ++i)
        *out++ = static_cast<char>(value >> (8 * i));
    return out;
}

inline uint64_t get_little_endian(const char* in)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
        value |= static_cast<uint64_t>(static_cast<unsigned char>(in[i])) << (8 * i);
    return value;
}

/// Writes block_head_size bytes.
inline char* put_block_head(char* out, const BlockHead& head)
{
    memcpy(out, block_mark, sizeof block_mark);
    out += sizeof block_mark;
    const uint64_t values[block_values] = {head.compressed_size, head.text_size, head.text_offset,
                                           head.first_line,      head.first_end, head.last_end};
    for (const uint64_t value : values)
        out = put_little_endian(out, value);
    return out;
}

/// Reads block_head_size bytes. False if there is no head.
inline bool get_block_head(const char* in, BlockHead& head)
{
    if (memcmp(in, block_mark, sizeof block_mark) != 0)
        return false;
    uint64_t values[block_values];
    for (int i = 0; i < block_values; ++i)
        values[i] = get_little_endian(in + sizeof block_mark + 8 * i);
    head = {values[0], values[1], values[2], values[3], values[4], values[5]};
    return true;
}

} // namespace hdtrace
