// The ends of messages come in order, however many are in memory.
#include "merger/export/paje/sorted_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace hdtrace::exporter::paje {
namespace {

std::vector<LinkEnd> random_ends(std::size_t count)
{
    std::mt19937 random(7); // NOLINT: the same ones each time
    std::vector<LinkEnd> ends;
    for (std::size_t i = 0; i < count; ++i)
        ends.push_back({static_cast<std::int64_t>(random() % 1000), static_cast<std::int64_t>(i % 2),
                        static_cast<std::int64_t>(i / 2), 0, 0, 8});
    return ends;
}

class LinkOrder : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LinkOrder, IsThatOfTimeAndNothingIsLost)
{
    std::vector<LinkEnd> expected = random_ends(5000);
    SortedLinks links(GetParam());
    for (const LinkEnd& end : expected)
        links.add(end);
    links.sort();
    std::vector<LinkEnd> found;
    for (const std::int64_t until :
         {std::int64_t{-1}, std::int64_t{400}, std::numeric_limits<std::int64_t>::max()})
        while (const auto end = links.next_until(until)) {
            EXPECT_LE(end->time, until);
            found.push_back(*end);
        }
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(InMemory, LinkOrder, ::testing::Values(50, 100, 4999, 5000, 100000));

} // namespace
} // namespace hdtrace::exporter::paje
