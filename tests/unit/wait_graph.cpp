// Who can never go on, for waits of all kinds.
#include "hdtrace/checking/wait_graph.h"

#include <gtest/gtest.h>

using namespace hdtrace;

namespace {

using Ranks = std::set<std::int64_t>;

Wait all(Ranks ranks)
{
    return {WaitCondition::Of::all, {{WaitCondition::Of::all, std::move(ranks)}}};
}

Wait any(Ranks ranks)
{
    return {WaitCondition::Of::all, {{WaitCondition::Of::any, std::move(ranks)}}};
}

} // namespace

TEST(WaitGraph, ACircle)
{
    const StuckProcesses stuck = find_stuck({{0, all({1})}, {1, all({2})}, {2, all({0})}, {3, all({0})}}, {});
    EXPECT_EQ(stuck.all, (Ranks{0, 1, 2, 3}));
    EXPECT_EQ(stuck.circles, (std::vector<Circle>{{0, 1, 2}}));
}

TEST(WaitGraph, SeveralCircles)
{
    const StuckProcesses stuck =
        find_stuck({{0, all({1})}, {1, all({0})}, {2, all({3})}, {3, all({2})}, {4, all({0, 2})}}, {});
    EXPECT_EQ(stuck.all, (Ranks{0, 1, 2, 3, 4}));
    EXPECT_EQ(stuck.circles.size(), 2u);
}

TEST(WaitGraph, WhoWaitsForOneThatGoesOnGoesOn)
{
    EXPECT_TRUE(find_stuck({{0, all({1})}, {1, all({2})}}, {}).all.empty());
    EXPECT_TRUE(find_stuck({{0, any({1, 2})}, {1, any({0, 2})}}, {}).all.empty());
}

TEST(WaitGraph, AllAndAnyOfSeveral)
{
    EXPECT_EQ(find_stuck({{0, all({1, 2})}, {1, all({0})}}, {}).all, (Ranks{0, 1}));
    const Wait either = {WaitCondition::Of::any,
                         {{WaitCondition::Of::all, {1}}, {WaitCondition::Of::all, {2}}}};
    EXPECT_TRUE(find_stuck({{0, either}, {1, all({0})}}, {}).all.empty());
    EXPECT_EQ(find_stuck({{0, either}, {1, all({0})}, {2, all({1})}}, {}).all, (Ranks{0, 1, 2}));
}

TEST(WaitGraph, NothingToWaitFor)
{
    EXPECT_TRUE(find_stuck({{0, {}}, {1, all({0})}, {2, all({})}}, {}).all.empty());
}

TEST(WaitGraph, WhoIsGoneDoesNothing)
{
    const StuckProcesses stuck = find_stuck({{0, all({1})}, {2, all({0})}}, {1});
    EXPECT_EQ(stuck.all, (Ranks{0, 2}));
    EXPECT_TRUE(stuck.circles.empty());
    EXPECT_EQ(awaited_in_vain(all({1, 3}), stuck.all, {1}), (Ranks{1}));
}

TEST(WaitGraph, OneThatWaitsForItself)
{
    EXPECT_EQ(find_stuck({{0, all({0})}}, {}).circles, (std::vector<Circle>{{0}}));
}

TEST(WaitGraph, LongChainsNeedNoStack)
{
    std::map<std::int64_t, Wait> waits;
    constexpr std::int64_t count = 200'000;
    for (std::int64_t rank = 0; rank < count; ++rank)
        waits.emplace(rank, all({(rank + 1) % count}));
    EXPECT_EQ(find_stuck(waits, {}).circles.front().size(), static_cast<std::size_t>(count));
}
