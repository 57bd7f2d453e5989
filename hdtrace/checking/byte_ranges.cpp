#include "hdtrace/checking/byte_ranges.h"

#include <algorithm>

namespace hdtrace {

bool overlap(const ByteRange& one, const ByteRange& other)
{
    if (one.end <= other.begin || other.end <= one.begin)
        return false;
    if (one.pieces.empty() && other.pieces.empty())
        return true;
    const std::vector<std::pair<std::int64_t, std::int64_t>> whole_one{{one.begin, one.end}};
    const std::vector<std::pair<std::int64_t, std::int64_t>> whole_other{{other.begin, other.end}};
    const auto& pieces = other.pieces.empty() ? whole_other : other.pieces;
    return std::ranges::any_of(one.pieces.empty() ? whole_one : one.pieces, [&](const auto& piece) {
        return std::ranges::any_of(pieces, [&](const auto& another) {
            return piece.first < another.second && another.first < piece.second;
        });
    });
}

std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(const MappedType& type, std::int64_t origin,
                                                             std::int64_t count)
{
    constexpr std::size_t most_pieces = 1'000;
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    for (std::int64_t i = 0; i < count && pieces.size() < most_pieces; ++i)
        type.map->visit_pieces(origin + i * type.extent, 0, [&](std::int64_t begin, std::int64_t end) {
            pieces.emplace_back(begin, end);
            return pieces.size() < most_pieces;
        });
    return pieces;
}

} // namespace hdtrace
