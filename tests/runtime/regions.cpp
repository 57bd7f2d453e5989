#include "mpiwrapper/runtime/regions/float_text.h"
#include "mpiwrapper/runtime/regions/open_regions.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

using namespace hdtrace::mpi;

namespace {

std::string text_of(double value)
{
    char text[float_room];
    return {text, static_cast<size_t>(put_float(text, value) - text)};
}

TEST(FloatText, ShortNumbersAreShort)
{
    EXPECT_EQ(text_of(0), "0");
    EXPECT_EQ(text_of(-0.0), "-0");
    EXPECT_EQ(text_of(0.1), "0.1");
    EXPECT_EQ(text_of(-12.000001), "-12.000001");
    EXPECT_EQ(text_of(4096), "4096");
    EXPECT_EQ(text_of(1e-7), "9.9999999999999995e-08");
}

TEST(FloatText, WhatIsNoNumber)
{
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(text_of(infinity), "INF");
    EXPECT_EQ(text_of(-infinity), "-INF");
    EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(FloatText, EveryNumberReadsAsItself)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        const uint64_t bits = random();
        double any;
        memcpy(&any, &bits, sizeof any);
        for (const double value : {any, static_cast<double>(static_cast<int64_t>(bits)) / 1e12,
                                   static_cast<double>(bits % 1'000'000'000) / 1e6}) {
            if (!std::isnan(value)) {
                ASSERT_EQ(std::strtod(text_of(value).c_str(), nullptr), value) << text_of(value);
            }
        }
    }
}

class Regions : public testing::Test {
  protected:
    using Found = OpenRegions::Found;

    static const Definition* region(uintptr_t number)
    {
        return reinterpret_cast<const Definition*>(number * 64);
    }
    Found leave(const Definition* which)
    {
        left = which;
        return open.leave(left);
    }

    OpenRegions open;
    const Definition* left = nullptr;
};

TEST_F(Regions, AreLeftInAnyOrder)
{
    open.enter(region(1), 0, true);
    open.enter(region(2), 0, false);
    open.enter(region(1), 0, false);
    EXPECT_EQ(leave(region(3)), Found::nothing);
    EXPECT_EQ(leave(region(1)), Found::unrecorded);
    EXPECT_EQ(leave(region(1)), Found::recorded);
    EXPECT_EQ(leave(region(1)), Found::nothing);
    EXPECT_EQ(leave(nullptr), Found::unrecorded);
    EXPECT_EQ(left, region(2));
    EXPECT_EQ(leave(nullptr), Found::nothing);
}

TEST_F(Regions, SomeAreLeftByNameOnly)
{
    open.enter(region(1), 0, true);
    open.enter(region(2), HD_OVERLAPS, true);
    EXPECT_EQ(leave(nullptr), Found::recorded);
    EXPECT_EQ(left, region(1));
    EXPECT_EQ(leave(nullptr), Found::nothing);
    EXPECT_EQ(leave(region(2)), Found::recorded);
}

TEST_F(Regions, HaveALimit)
{
    int entered = 0;
    while (open.enter(region(static_cast<uintptr_t>(entered)), 0, true) == 0)
        ++entered;
    EXPECT_EQ(entered, 1 << 20);
    EXPECT_EQ(open.enter(region(1), 0, true), HD_ERR_DEEP_REGION);
    EXPECT_EQ(leave(nullptr), Found::recorded);
    EXPECT_EQ(left, region((1 << 20) - 1));
    EXPECT_EQ(open.enter(region(1), 0, true), 0);
}

} // namespace
