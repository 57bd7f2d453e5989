// Who can never go on, for waits of all kinds.
#include "hdtrace/checking/wait_graph.h"

#include <algorithm>
#include <random>

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

// The same as find_stuck, by trying out.
class Simple {
  public:
    Simple(const std::map<std::int64_t, Wait>& waits, const Ranks& gone) : m_waits(waits), m_gone(gone)
    {
        for (const auto& [rank, wait] : waits)
            if (!gone.contains(rank))
                stuck.insert(rank);
        for (bool has_changed = true; has_changed;) {
            const auto goes_on = [&](std::int64_t rank) { return is_over(m_waits.at(rank)); };
            has_changed = std::erase_if(stuck, goes_on) > 0;
        }
        for (const std::int64_t rank : stuck)
            edges[rank] = awaited_by(rank);
        for (const std::int64_t rank : stuck)
            add_circle_of(rank);
    }

    Ranks stuck;
    std::map<std::int64_t, Ranks> edges;
    std::set<Circle> circles;

  private:
    bool is_idle(std::int64_t rank) const { return stuck.contains(rank) || m_gone.contains(rank); }
    static Ranks members(const WaitCondition& condition)
    {
        Ranks ranks = *condition.ranks;
        ranks.erase(condition.except);
        return ranks;
    }
    bool is_over(const WaitCondition& condition) const
    {
        const Ranks ranks = members(condition);
        const auto goes_on = [&](std::int64_t rank) { return !is_idle(rank); };
        return ranks.empty() ||
               (condition.of == WaitCondition::Of::all ? std::ranges::all_of(ranks, goes_on)
                                                       : std::ranges::any_of(ranks, goes_on));
    }
    bool is_over(const Wait& wait) const
    {
        const auto over = [&](const WaitCondition& condition) { return is_over(condition); };
        return wait.conditions.empty() ||
               (wait.of == WaitCondition::Of::all ? std::ranges::all_of(wait.conditions, over)
                                                  : std::ranges::any_of(wait.conditions, over));
    }
    Ranks awaited_by(std::int64_t rank) const
    {
        Ranks awaited;
        for (const WaitCondition& condition : m_waits.at(rank).conditions)
            for (const std::int64_t other : members(condition))
                if (!is_over(condition) && is_idle(other))
                    awaited.insert(other);
        return awaited;
    }
    // All that it waits for, and that these wait for, if they all wait for it.
    void add_circle_of(std::int64_t rank)
    {
        const Ranks all = reached_from(rank);
        if (std::ranges::all_of(all, [&](std::int64_t other) { return reached_from(other).contains(rank); }))
            circles.insert(all);
    }
    Ranks reached_from(std::int64_t rank)
    {
        Ranks reached = edges[rank];
        for (std::size_t size = 0; size != reached.size();) {
            size = reached.size();
            for (const std::int64_t other : Ranks(reached))
                reached.insert(edges[other].begin(), edges[other].end());
        }
        return reached;
    }

    const std::map<std::int64_t, Wait>& m_waits;
    const Ranks& m_gone;
};

// Conditions of a few processes, some of which share their ranks.
std::map<std::int64_t, Wait> random_waits(std::mt19937& random)
{
    const auto draw = [&](unsigned count) { return random() % count; };
    std::vector<SharedRanks> sets;
    for (int i = 0; i < 4; ++i) {
        Ranks ranks;
        for (std::int64_t rank = 0; rank < 6; ++rank)
            if (draw(3) == 0)
                ranks.insert(rank);
        sets.emplace_back(std::move(ranks));
    }
    std::map<std::int64_t, Wait> waits;
    for (std::int64_t rank = 0; rank < 6; ++rank) {
        Wait wait{draw(2) == 0 ? WaitCondition::Of::all : WaitCondition::Of::any, {}};
        for (unsigned i = draw(3) + (draw(4) == 0 ? 0 : 1); i > 0; --i)
            wait.conditions.push_back({draw(2) == 0 ? WaitCondition::Of::all : WaitCondition::Of::any,
                                       sets[draw(4)], draw(2) == 0 ? rank : -1});
        if (draw(5) > 0)
            waits.emplace(rank, std::move(wait));
    }
    return waits;
}

} // namespace

TEST(WaitGraph, FindsWhatTryingOutFinds)
{
    std::mt19937 random(1);
    int circles = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::map<std::int64_t, Wait> waits = random_waits(random);
        const Ranks gone = random() % 3 == 0 ? Ranks{static_cast<std::int64_t>(random() % 6)} : Ranks{};
        const Simple expected(waits, gone);
        const StuckProcesses found = find_stuck(waits, gone);
        ASSERT_EQ(found.all, expected.stuck) << i;
        ASSERT_EQ(std::set<Circle>(found.circles.begin(), found.circles.end()), expected.circles) << i;
        ASSERT_EQ(found.circles.size(), expected.circles.size()) << i;
        for (const auto& [rank, conditions] : found.awaited) {
            Ranks awaited;
            for (const WaitCondition& condition : conditions)
                std::ranges::copy_if(*condition.ranks, std::inserter(awaited, awaited.end()),
                                     [&](std::int64_t other) { return other != condition.except; });
            ASSERT_EQ(awaited, expected.edges.at(rank)) << i;
        }
        circles += static_cast<int>(found.circles.size());
    }
    EXPECT_GT(circles, 1000);
}

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
    EXPECT_EQ(*find_stuck({{0, all({1, 3})}}, {1}).awaited.at(0).front().ranks, (Ranks{1}));
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

TEST(WaitGraph, AllWaitForAnybody)
{
    constexpr std::int64_t count = 100'000;
    Ranks ranks;
    for (std::int64_t rank = 0; rank < count; ++rank)
        ranks.insert(ranks.end(), rank);
    const SharedRanks everybody = ranks;
    std::map<std::int64_t, Wait> waits;
    for (const std::int64_t rank : ranks)
        waits[rank] = {WaitCondition::Of::all, {{WaitCondition::Of::any, everybody, rank}}};
    EXPECT_EQ(find_stuck(waits, {}).circles, (std::vector<Circle>{ranks}));
}
