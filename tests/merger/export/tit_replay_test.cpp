// What the replay of SimGrid is written from: ranks by themselves, and numbers of tags.
#include "merger/export/for_each_rank.h"
#include "merger/export/tit/renumbering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace hdtrace::exporter {
namespace {

// --- each rank by itself ---

TEST(EachRank, IsDoneOnce)
{
    std::vector<std::atomic<int>> done(100);
    for_each_rank(done.size(), [&](std::size_t rank) { ++done[rank]; });
    EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
}

TEST(EachRank, OfThoseThatFailTheFirstOneIsTold)
{
    for (int again = 0; again < 100; ++again) {
        try {
            for_each_rank(50, [](std::size_t rank) {
                if (rank >= 7)
                    throw std::runtime_error(std::to_string(rank));
            });
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "7");
        }
    }
}

// --- tags ---

constexpr std::int64_t first = ReplayTags::first_new;

std::string renumbered(const std::string& line, const TagNumbers& numbers)
{
    std::string text;
    TextOutput output([&](std::string_view part) { text += part; });
    renumber_line(line, numbers, output);
    output.flush();
    return text;
}

TEST(TagNumbersOfAll, AreThoseOfTheFirstProcessThatHasTheTag)
{
    const Communicator communicator;
    ReplayTags zero(nullptr), one(nullptr);
    EXPECT_EQ(zero.of(&communicator, 5), first);
    EXPECT_EQ(one.of(&communicator, 6), first);
    EXPECT_EQ(one.of(&communicator, 5), first + 1);
    CommonTags common;
    EXPECT_TRUE(common.numbers_for(zero).are_all_the_same());
    const TagNumbers of_one = common.numbers_for(one);
    EXPECT_FALSE(of_one.are_all_the_same());
    EXPECT_EQ(of_one.common(first), first + 1);
    EXPECT_EQ(of_one.common(first + 1), first);
    EXPECT_EQ(of_one.common(7), 7);
}

TEST(Renumbering, ChangesTagsAndNothingElse)
{
    const TagNumbers numbers({first + 1, first});
    const std::string own = std::to_string(first), common = std::to_string(first + 1);
    for (const std::string action : {"send", "recv", "isend", "irecv"}) {
        const std::string begin = "0 " + action + " 3 ", end = " " + own + " 6";
        EXPECT_EQ(renumbered(begin + own + end, numbers), begin + common + end + "\n");
        EXPECT_EQ(renumbered(begin + "4" + end, numbers), begin + "4" + end + "\n");
    }
    EXPECT_EQ(renumbered("0 wait 1 0 " + own, numbers), "0 wait 1 0 " + common + "\n");
    EXPECT_EQ(renumbered("0 init", numbers), "0 init\n");
    EXPECT_EQ(renumbered("0 compute " + own, numbers), "0 compute " + own + "\n");
    EXPECT_EQ(renumbered("0 bcast " + own + " " + own + " 6", numbers),
              "0 bcast " + own + " " + own + " 6\n");
}

} // namespace
} // namespace hdtrace::exporter
