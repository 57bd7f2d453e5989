#include "mpiwrapper/runtime/counters/perf_events.h"
#include "mpiwrapper/runtime/counters/table.h"
#include "mpiwrapper/runtime/counters/values.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

using namespace hdtrace::mpi;

namespace {

std::vector<const SampledCounter*> all_of(bool (*is_wanted)(Source))
{
    std::vector<const SampledCounter*> counters;
    for (const SampledCounter& counter : sampled_counters()) {
        if (is_wanted(counter.source))
            counters.push_back(&counter);
    }
    return counters;
}

TEST(SampledCounters, HaveNamesOfTheirOwn)
{
    std::set<std::string> names;
    for (const SampledCounter& counter : sampled_counters())
        EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_GT(names.size(), 40u);
}

TEST(SampledCounters, OfFilesAreReadAgain)
{
    const auto counters = all_of([](Source source) { return source >= Source::process_memory; });
    std::vector<int64_t> first(counters.size(), no_value), second(counters.size(), no_value);
    read_proc_files({counters, first.data()});
    read_proc_files({counters, second.data()});
    for (size_t i = 0; i < counters.size(); ++i) {
        const bool is_steady = (counters[i]->attributes & is_level) != 0 || first[i] == no_value ||
                               std::strcmp(counters[i]->name, "cpu_idle") == 0 ||
                               std::strcmp(counters[i]->name, "cpu_iowait") == 0;
        EXPECT_TRUE(is_steady || second[i] >= first[i]) << counters[i]->name;
        EXPECT_EQ(first[i] == no_value, second[i] == no_value) << counters[i]->name;
    }
}

TEST(PerfEvents, ThatFilesOfOthersHaveTakenAreLeftAlone)
{
    const auto counters = all_of(is_perf);
    std::vector<const SampledCounter*> countable;
    for (const SampledCounter* counter : counters) {
        if (PerfEvents::try_to_count(*counter) == 0)
            countable.push_back(counter);
    }
    if (countable.empty())
        GTEST_SKIP() << "the kernel counts nothing here";
    const int lowest = dup(0);
    std::vector<int64_t> values(countable.size(), no_value);
    {
        PerfEvents events;
        ASSERT_TRUE(events.open(countable));
        events.read({countable, values.data()});
        EXPECT_NE(values[0], no_value);
        int pipes[2];
        ASSERT_EQ(pipe(pipes), 0);
        ASSERT_EQ(write(pipes[1], "unread", 6), 6);
        std::vector<int> taken;
        for (int descriptor = 400; descriptor < 500; ++descriptor) {
            if (close(descriptor) == 0 && dup2(pipes[0], descriptor) == descriptor)
                taken.push_back(descriptor);
        }
        EXPECT_GE(taken.size(), countable.size());
        events.read({countable, values.data()});
        for (const int64_t value : values)
            EXPECT_EQ(value, no_value);
        events.close();
        char text[8];
        EXPECT_EQ(read(pipes[0], text, sizeof text), 6);
        for (const int descriptor : taken)
            EXPECT_EQ(close(descriptor), 0) << "it was closed by somebody else";
        close(pipes[0]);
        close(pipes[1]);
    }
    const int again = dup(0);
    EXPECT_EQ(again, lowest + 1);
    close(again);
    close(lowest);
}

} // namespace
