// Which of the calls in a row that ask in vain are told.
#include "mpiwrapper/runtime/recording/polls.h"

#include <gtest/gtest.h>

#include <vector>

namespace hdtrace::mpi {
namespace {

std::vector<int> told_of(int count, PollSeries& series)
{
    std::vector<int> told;
    for (int i = 1; i <= count; ++i) {
        if (series.add(7))
            told.push_back(i);
    }
    return told;
}

TEST(PollSeries, TellsFourOfEachDoubling)
{
    PollSeries series;
    EXPECT_EQ(told_of(250, series), (std::vector{1, 64, 80, 96, 112, 128, 160, 192, 224}));
    EXPECT_FALSE(series.is_mixed());
}

TEST(PollSeries, BeginsAgainBehindSomethingElse)
{
    PollSeries series;
    told_of(70, series);
    series.end();
    EXPECT_EQ(told_of(70, series), (std::vector{1, 64}));
}

TEST(PollSeries, KnowsThatQuestionsDiffered)
{
    PollSeries series;
    series.add(7);
    EXPECT_FALSE(series.add(8));
    EXPECT_TRUE(series.is_mixed());
    series.end();
    series.add(8);
    EXPECT_FALSE(series.is_mixed());
}

} // namespace
} // namespace hdtrace::mpi
