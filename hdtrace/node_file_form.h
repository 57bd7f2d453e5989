// What a node file consists of (docs/format.md): pieces of the files that the processes of a run have on one
// host, in the order in which they were written.
#pragma once

#include "hdtrace/block_head.h"

#include <initializer_list>
#include <stdint.h>
#include <string.h>

namespace hdtrace {

/// What its name ends with, behind "<base>_<host>". A piece of a file tells what stands behind that in the
/// file's own name, without the '_': "0_0.trc".
inline constexpr char node_file_suffix[] = ".node";

/// What the file begins with; the size of the run's name follows, 8 bytes, the lowest first, and the name.
inline constexpr char node_file_mark[8] = {'\xc1', 'h', 'd', 'n', 'o', 'd', 'e', '1'};
inline constexpr int node_head_size = sizeof node_file_mark + 8;
inline constexpr int longest_run_name = 1024;

/// The head of a piece; `room` bytes follow, of which `size` and then `rest` are used. Those of the rest
/// stand behind the data until the next piece of the file adds data. A piece without data is written over
/// where it stands, as long as its room is enough: it counts if the data still end at its position.
struct NodePiece {
    uint64_t stream;   ///< which file it is of; the upper half is the process that writes it
    uint64_t position; ///< where in the file its data stand
    uint64_t size;     ///< bytes of data
    uint64_t rest;     ///< bytes
    uint64_t room;     ///< bytes until the next piece
};

/// The position of a piece with which a file begins: its data are the file's name.
inline constexpr uint64_t begin_of_stream = UINT64_MAX;

inline constexpr char node_piece_mark[8] = {'\xc1', 'h', 'd', 'p', 'i', 'e', 'c', 'e'};
inline constexpr int node_piece_values = 5;
/// With the mark before, and a sum over the values behind them.
inline constexpr int node_piece_size = sizeof node_piece_mark + 8 * (node_piece_values + 1);

/// Bytes that processes lock while they live, each the one behind this by its number; and the one that a
/// process locks while it joins.
inline constexpr int64_t node_locks_begin = int64_t{1} << 40;
inline constexpr int64_t node_gate = node_locks_begin - 1;

/// FNV-1a.
inline uint64_t sum_of_node_values(const char* bytes, int size)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (int i = 0; i < size; ++i)
        sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
    return sum;
}

/// Writes node_piece_size bytes.
inline void put_node_piece(char* out, const NodePiece& piece)
{
    memcpy(out, node_piece_mark, sizeof node_piece_mark);
    char* const values = out + sizeof node_piece_mark;
    char* end = values;
    for (const uint64_t value : {piece.stream, piece.position, piece.size, piece.rest, piece.room})
        end = put_little_endian(end, value);
    put_little_endian(end, sum_of_node_values(values, 8 * node_piece_values));
}

/// Reads node_piece_size bytes. False if no piece begins there.
inline bool get_node_piece(const char* in, NodePiece& piece)
{
    const char* const values = in + sizeof node_piece_mark;
    if (memcmp(in, node_piece_mark, sizeof node_piece_mark) != 0 ||
        get_little_endian(values + 8 * node_piece_values) !=
            sum_of_node_values(values, 8 * node_piece_values))
        return false;
    piece = {get_little_endian(values), get_little_endian(values + 8), get_little_endian(values + 16),
             get_little_endian(values + 24), get_little_endian(values + 32)};
    return true;
}

} // namespace hdtrace
