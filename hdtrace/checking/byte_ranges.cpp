#include "hdtrace/checking/byte_ranges.h"

#include <algorithm>
#include <span>

namespace hdtrace {

namespace {

using Piece = Pieces::value_type;

std::span<const Piece> pieces_of(const ByteRange& range, const Piece& whole)
{
    return range.pieces.empty() ? std::span(&whole, 1) : std::span(range.pieces);
}

/// Pieces of one range may overlap each other: what ends before a piece does so before all that begin later.
bool overlap(std::span<const Piece> ones, std::span<const Piece> others)
{
    auto one = ones.begin();
    auto other = others.begin();
    while (one != ones.end() && other != others.end())
        if (one->second <= other->first)
            ++one;
        else if (other->second <= one->first)
            ++other;
        else
            return true;
    return false;
}

} // namespace

bool overlap(const ByteRange& one, const ByteRange& other)
{
    const Piece whole_one(one.begin, one.end), whole_other(other.begin, other.end);
    return overlap(std::span(&whole_one, 1), std::span(&whole_other, 1)) &&
           overlap(pieces_of(one, whole_one), pieces_of(other, whole_other));
}

bool overlap_each_other(const Pieces& pieces)
{
    return std::ranges::adjacent_find(pieces, [](const Piece& one, const Piece& next) {
               return next.first < one.second;
           }) != pieces.end();
}

Pieces pieces_of(const MappedType& type, std::int64_t origin, std::int64_t count)
{
    constexpr std::size_t most_pieces = 1'000;
    Pieces pieces;
    for (std::int64_t i = 0; i < count && pieces.size() < most_pieces; ++i)
        type.map->visit_pieces(origin + i * type.extent, 0, [&](std::int64_t begin, std::int64_t end) {
            pieces.emplace_back(begin, end);
            return pieces.size() < most_pieces;
        });
    if (!std::ranges::is_sorted(pieces))
        std::ranges::sort(pieces);
    return pieces;
}

} // namespace hdtrace
