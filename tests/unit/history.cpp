// What is explained from histories that no program makes as wanted.
#include "hdtrace/explaining/critical_path.h"
#include "hdtrace/explaining/time_use.h"
#include "hdtrace/explaining/wait_states.h"

#include <gtest/gtest.h>

namespace hdtrace {
namespace {

Timeline timeline_of(std::int64_t rank, std::int64_t thread, std::initializer_list<Step> steps)
{
    Timeline timeline;
    timeline.rank = rank;
    timeline.thread = thread;
    for (const Step& step : steps)
        timeline.steps.push_back(step);
    return timeline;
}

History of(std::initializer_list<const char*> calls)
{
    History history;
    for (const char* call : calls)
        history.places.push_back({.call = &facts_of(std::string_view(call))});
    return history;
}

TEST(History, CountsNoPollsOfAnotherTimeAsLeftOut)
{
    History history = of({"Test", "Send"});
    history.timelines.push_back(
        timeline_of(0, 0, {{0, 1, 0}, {1, 9, 0}, {10, 11, 1}, {12, 13, 0}, {13, 19, 0}, {19, 20, 0}}));
    history.timelines[0].left_out = {1, 4};
    EXPECT_EQ(TimeUse(history, {}).by_place[0].calls, 3);
    history.cut({12, 100});
    const TimeUse use(history, {});
    EXPECT_EQ(use.by_place[0].calls, 2);
    EXPECT_EQ(use.by_place[1].calls, 0);
}

TEST(History, KnowsNoEndOfAnOperationThatEndsBehindTheInterval)
{
    History history = of({"Ibarrier", "Wait"});
    for (std::int64_t rank = 0; rank < 2; ++rank)
        history.timelines.push_back(timeline_of(rank, 0, {{10, 11, 0}, {500, 501, 1}}));
    history.gatherings.push_back(
        {.kind = WaitKind::wait_at_barrier, .members = {{{0, 0}, {0, 1}}, {{1, 0}, {1, 1}}}});
    history.cut({0, 100});
    ASSERT_EQ(history.gatherings.size(), 1u);
    for (const Gathering::Member& member : history.gatherings[0].members) {
        EXPECT_FALSE(member.has_ended);
        EXPECT_EQ(member.end, member.call) << "which there is";
    }
    EXPECT_TRUE(find_wait_states(history).empty());
}

TEST(CriticalPath, GoesOnInTheProcessWhereAThreadBegan)
{
    History history = of({"Barrier"});
    history.timelines.push_back(timeline_of(0, 0, {{0, 10, 0}, {40, 50, 0}}));
    history.timelines.push_back(timeline_of(0, 1, {{30, 35, 0}, {60, 70, 0}}));
    const std::vector<PathPart> path = find_critical_path(history, {});
    ASSERT_EQ(path.size(), 2u);
    EXPECT_EQ(path[0].timeline, 0u);
    EXPECT_EQ(path[0].end, 30);
    EXPECT_EQ(path[1].timeline, 1u);
    EXPECT_EQ(path[1].begin, 30);
}

TEST(CriticalPath, TakesNothingForImbalanceBeforeAProcessIsThere)
{
    History history = of({"Barrier"});
    history.timelines.push_back(timeline_of(0, 0, {{0, 10, 0}}));
    history.timelines.push_back(timeline_of(1, 0, {{900, 1000, 0}}));
    const auto profile = profile_of(find_critical_path(history, {}), history, {});
    ASSERT_EQ(profile.front().activity, Activity());
    EXPECT_EQ(profile.front().time, 900);
    EXPECT_EQ(profile.front().imbalance(), 0);
}

} // namespace
} // namespace hdtrace
