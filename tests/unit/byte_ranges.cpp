#include <gtest/gtest.h>

#include <random>

#include "hdtrace/checking/byte_ranges.h"

namespace hdtrace {
namespace {

constexpr int places = 30;

ByteRange range_of(const TypeMapPointer& map, std::int64_t origin, std::int64_t extent, std::int64_t count)
{
    ByteRange range;
    range.pieces = pieces_of({map, extent}, origin, count);
    range.begin = range.pieces.front().first;
    for (const auto& [begin, end] : range.pieces)
        range.end = std::max(range.end, end);
    return range;
}

bool has(const ByteRange& range, std::int64_t place)
{
    return std::ranges::any_of(
        range.pieces, [&](const auto& piece) { return piece.first <= place && place < piece.second; });
}

/// Blocks that may lie on each other, in any order.
ByteRange random_range(std::mt19937& random)
{
    std::vector<Copies> parts;
    for (auto left = 1 + random() % 3; left > 0; --left)
        parts.push_back({static_cast<std::int64_t>(random() % 8), 1 + static_cast<std::int64_t>(random() % 2),
                         static_cast<std::int64_t>(random() % 7) - 3,
                         TypeMap::piece(1 + static_cast<std::int64_t>(random() % 3))});
    return range_of(TypeMap::join(parts), 4 + static_cast<std::int64_t>(random() % 6),
                    static_cast<std::int64_t>(random() % 5), 1 + static_cast<std::int64_t>(random() % 2));
}

TEST(ByteRanges, OverlapWhereTheyHaveAByteInCommon)
{
    std::mt19937 random(7);
    int overlapping = 0;
    for (int i = 0; i < 10'000; ++i) {
        const ByteRange one = random_range(random), other = random_range(random);
        bool share = false;
        for (std::int64_t place = 0; place < places; ++place)
            share = share || (has(one, place) && has(other, place));
        ASSERT_EQ(overlap(one, other), share);
        overlapping += share;
    }
    EXPECT_GT(overlapping, 1000);
    EXPECT_LT(overlapping, 9000);
}

TEST(ByteRanges, AreComparedPieceByPieceOnce)
{
    constexpr std::int64_t many = 1'000'000;
    ByteRange one{0, 3 * many, {}}, other{1, 3 * many + 1, {}};
    for (std::int64_t i = 0; i < many; ++i) {
        one.pieces.emplace_back(3 * i, 3 * i + 1);
        other.pieces.emplace_back(3 * i + 1, 3 * i + 2);
    }
    EXPECT_FALSE(overlap(one, other)); // each with each would take days
}

TEST(ByteRanges, OverlapEachOtherAlsoIfTheyAreFarApartInTheData)
{
    const TypeMapPointer byte = TypeMap::piece(1);
    EXPECT_TRUE(overlap_each_other(pieces_of({TypeMap::join({{8, 1, 0, byte}, {0, 3, 4, byte}}), 12}, 0, 1)));
    EXPECT_FALSE(overlap_each_other(pieces_of({TypeMap::join({{2, 3, -1, byte}}), 3}, 0, 2)));
    EXPECT_TRUE(overlap_each_other(pieces_of({TypeMap::piece(4), 2}, 0, 2))); // its extent is too small
}

} // namespace
} // namespace hdtrace
