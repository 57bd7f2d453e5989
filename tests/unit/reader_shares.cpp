#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/format/errors.h"
#include "hdtrace/matching/process_shares.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::TemporaryFolder;

std::string state(const std::string& name, std::int64_t nanoseconds)
{
    const std::string digits = std::to_string(1'000'000'000 + nanoseconds % 1'000'000'000).substr(1);
    const std::string time = std::to_string(nanoseconds / 1'000'000'000) + "." + digits;
    return "<" + name + " time='" + time + "' end='" + time + "' />\n";
}

TraceFile write(const TemporaryFolder& folder, std::int64_t rank, std::int64_t thread,
                const std::string& states)
{
    const std::string name = std::to_string(rank) + "_" + std::to_string(thread) + ".trc";
    return {folder.write(name, "<Program timeAdjustment='0'>\n" + states + "</Program>\n"), rank, thread, {}};
}

/// Keeps what it gets, and tells each other share of it.
struct Keeper : ProcessShare {
    struct Told {
        std::size_t by = 0;
        std::string name;
    };

    Keeper(Handover<Told>& handover, std::size_t number, std::size_t count)
        : handover(handover), number(number), count(count)
    {
    }

    void add(const TraceFile& trace, const State& state) override
    {
        got.push_back(state.name + "@" + std::to_string(trace.rank));
        times.push_back(state.time);
        for (std::size_t other = 0; other < count; ++other)
            if (other != number)
                handover.give(number, other, {number, state.name});
    }

    void take_over() override
    {
        handover.take(number, [this](Told item) { told[item.by].push_back(item.name); });
    }

    Handover<Told>& handover;
    std::size_t number, count;
    std::vector<std::string> got;
    std::vector<std::int64_t> times;
    std::map<std::size_t, std::vector<std::string>> told; ///< by which share
};

struct Outcome {
    std::vector<std::string> got; ///< of all shares
    bool is_broken = false;
};

Outcome read(const std::vector<TraceFile>& traces, unsigned threads)
{
    ProcessShares processes(traces, threads);
    Handover<Keeper::Told> handover(processes.count());
    std::deque<Keeper> keepers;
    std::vector<ProcessShare*> shares;
    for (std::size_t i = 0; i < processes.count(); ++i)
        shares.push_back(&keepers.emplace_back(handover, i, processes.count()));
    Outcome outcome;
    try {
        processes.read(shares, {}, 1 << 20);
    } catch (const ReadError&) {
        outcome.is_broken = true;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
        EXPECT_TRUE(std::ranges::is_sorted(keepers[i].times));
        for (const auto& [by, names] : keepers[i].told) {
            std::vector<std::string> names_there;
            for (const std::string& one : keepers[by].got)
                names_there.push_back(one.substr(0, one.find('@')));
            EXPECT_EQ(names, names_there) << "share " << by << " told share " << i;
        }
        outcome.got.insert(outcome.got.end(), keepers[i].got.begin(), keepers[i].got.end());
    }
    return outcome;
}

TEST(ProcessShares, GetAllStatesAndWhatTheOthersHandOver)
{
    const TemporaryFolder folder;
    std::vector<TraceFile> traces;
    std::vector<std::string> all;
    for (std::int64_t rank = 0; rank < 5; ++rank)
        for (std::int64_t thread = 0; thread < 1 + rank % 2; ++thread) {
            std::string states;
            for (int i = 0; i < 200; ++i) { // with a long pause, and at very different times
                const std::string name =
                    "S" + std::to_string(rank) + std::to_string(thread) + "x" + std::to_string(i);
                states += state(name, rank * 1'000'000'000 + i * 10'000 + (i > 100 ? 3'000'000'000'000 : 0));
                all.push_back(name + "@" + std::to_string(rank));
            }
            traces.push_back(write(folder, rank, thread, states));
        }
    std::ranges::sort(all);
    for (const unsigned threads : {0u, 1u, 2u, 3u, 5u, 64u}) {
        Outcome outcome = read(traces, threads);
        EXPECT_FALSE(outcome.is_broken);
        std::ranges::sort(outcome.got);
        EXPECT_EQ(outcome.got, all) << threads << " threads";
    }
}

TEST(ProcessShares, HaveAllThreadsOfAProcess)
{
    const ProcessShares processes({{"a", 3, 0, {}}, {"b", 3, 1, {}}, {"c", 7, 0, {}}, {"d", 9, 0, {}}}, 3);
    EXPECT_EQ(processes.count(), 3u);
    EXPECT_EQ(processes.share_of(3), 0u);
    EXPECT_EQ(processes.share_of(7), 1u);
    EXPECT_EQ(processes.share_of(9), 2u);
    EXPECT_LT(processes.share_of(4), 3u) << "it has no traces";
    EXPECT_EQ(ProcessShares({}, 4).count(), 1u);
}

TEST(ProcessShares, GoOnBesideABrokenTrace)
{
    const TemporaryFolder folder;
    const std::vector<TraceFile> traces = {
        write(folder, 0, 0, state("A", 1) + "<B time='1' />\n" + state("C", 2)),
        write(folder, 1, 0, state("D", 3)), write(folder, 2, 0, state("E", 4))};
    for (const unsigned threads : {1u, 2u, 3u}) {
        const Outcome outcome = read(traces, threads);
        EXPECT_TRUE(outcome.is_broken);
        EXPECT_EQ(outcome.got, (std::vector<std::string>{"A@0", "D@1", "E@2"}));
    }
}

TEST(ProcessShares, EndAtTheEndOfTime)
{
    const TemporaryFolder folder;
    const std::vector<TraceFile> traces = {
        write(folder, 0, 0, "<A time='9223372036.854775807' end='9223372036.854775807' />\n"),
        write(folder, 1, 0, state("B", 0))};
    EXPECT_EQ(read(traces, 2).got, (std::vector<std::string>{"A@0", "B@1"}));
}

TEST(ProcessShares, SayWhichTraceIsMissing)
{
    EXPECT_THROW(read({{"/nowhere/app_a_0_0.trc", 0, 0, {}}, {"/nowhere/app_a_1_0.trc", 1, 0, {}}}, 2),
                 OpenError);
}

} // namespace
} // namespace hdtrace
