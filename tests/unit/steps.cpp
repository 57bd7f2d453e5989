// Lists of steps are what was put into them, however many bits that takes.
#include "hdtrace/explaining/steps.h"

#include <gtest/gtest.h>

using namespace hdtrace;

namespace {

constexpr std::size_t blocks = 3;

std::vector<Step> short_steps()
{
    std::vector<Step> steps;
    for (std::size_t i = 0; i < blocks * Steps::per_block + 1; ++i) {
        const auto begin = static_cast<std::int64_t>(1'700'000'000'000'000'000 + 1000 * i);
        steps.push_back({begin, begin + 10, static_cast<std::uint32_t>(i % 7)});
    }
    return steps;
}

void expect_kept(const std::vector<Step>& all)
{
    Steps steps;
    EXPECT_TRUE(steps.empty());
    for (std::size_t i = 0; i < all.size(); ++i) {
        steps.push_back(all[i]);
        ASSERT_EQ(steps.size(), i + 1);
        ASSERT_EQ(steps.back(), all[i]) << i;
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(steps[i], all[i]) << i;
}

} // namespace

TEST(Steps, ThatAreShort)
{
    expect_kept(short_steps());
}

TEST(Steps, OneOfWhichIsLong)
{
    for (const std::size_t place :
         {std::size_t{0}, Steps::per_block - 1, Steps::per_block, 2 * Steps::per_block - 1})
        for (const std::int64_t duration :
             {std::int64_t{0xFFFFFFFF}, std::int64_t{1} << 32, std::int64_t{1} << 61}) {
            std::vector<Step> steps = short_steps();
            steps[place].end = steps[place].begin + duration;
            for (std::size_t i = place + 1; i < steps.size(); ++i)
                steps[i].begin = steps[i].end = steps[i].begin + duration;
            expect_kept(steps);
        }
}

TEST(Steps, BetweenWhichMuchTimePasses)
{
    for (const std::int64_t pause :
         {(std::int64_t{1} << 40) - 1000 * 255, std::int64_t{1} << 40, std::int64_t{1} << 61}) {
        std::vector<Step> steps = short_steps();
        for (std::size_t i = 2 * Steps::per_block - 1; i < steps.size(); ++i) {
            steps[i].begin += pause;
            steps[i].end += pause;
        }
        expect_kept(steps);
    }
}

TEST(Steps, OfManyPlaces)
{
    for (const std::uint32_t place : {(1u << 24) - 1, 1u << 24, UINT32_MAX}) {
        std::vector<Step> steps = short_steps();
        steps[Steps::per_block].place = place;
        expect_kept(steps);
    }
}

TEST(Steps, FarBeforeTheEpoch)
{
    std::vector<Step> steps = short_steps();
    for (std::size_t i = 0; i < Steps::per_block / 2; ++i)
        steps[i].begin = steps[i].end = -(std::int64_t{1} << 61);
    expect_kept(steps);
}
