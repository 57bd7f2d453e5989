// Traces that are saved or closed by others while a thread records, as text and as records.
#include "compact_support.h"

#include <atomic>
#include <set>
#include <signal.h>
#include <sys/time.h>
#include <thread>

namespace hdtrace::test {
namespace {

class Concurrent : public testing::TestWithParam<Compression> {
  protected:
    static TraceSettings settings()
    {
        TraceSettings settings;
        settings.form.compression = GetParam();
        return settings;
    }
};

INSTANTIATE_TEST_SUITE_P(, Concurrent, testing::Values(Compression::none, Compression::compact),
                         [](const auto& info) {
                             return info.param == Compression::none ? "text" : "records";
                         });

// Every state begins at a moment of its own: so one that is missing, or there twice, is seen.
void expect_all_moments(const std::string& text)
{
    static const std::regex state("<A time='0\\.([0-9]{9})'");
    std::set<int> moments;
    for (std::sregex_iterator at(text.begin(), text.end(), state), end; at != end; ++at)
        EXPECT_TRUE(moments.insert(std::stoi((*at)[1])).second) << "twice: " << at->str();
    EXPECT_EQ(moments.empty() ? 0 : *moments.rbegin() + 1, static_cast<int>(moments.size()));
}

TEST_P(Concurrent, WhatIsSavedBelongsTogether)
{
    constexpr int rounds = 50, moments = 1'000; // less than a buffer
    for (int round = 0; round < rounds; ++round) {
        Trace trace(settings());
        std::atomic<bool> is_ready = false;
        std::thread recorder([&] {
            is_ready = true;
            for (int moment = 0; moment < moments; ++moment) {
                trace.begin("A", base_second * second + moment);
                trace.end("A", moment, moment);
            }
        });
        while (!is_ready) {
        }
        for (int save = 0; save < 3; ++save) {
            trace.writer.save();
            expect_all_moments(text_of(trace));
        }
        recorder.join();
    }
}

// Whoever saves sees all states inside others that have ended, and no call twice.
TEST_P(Concurrent, StatesInEachOtherAreSavedTogether)
{
    for (int round = 0; round < 20; ++round) {
        Trace trace(settings());
        std::atomic<bool> stop = false;
        std::thread recorder([&] {
            for (int i = 0; !stop && i < 1'500; ++i) { // less than a buffer: what is read does not change
                trace.begin("Outer", base_second * second + i);
                trace.begin("Inner", base_second * second + i);
                trace.end("Inner", i, i);
                trace.state("Next", i, i);
                trace.end("Outer", i, i);
            }
        });
        for (int save = 0; save < 10; ++save) {
            trace.writer.save();
            const std::string text = text_of(trace);
            EXPECT_EQ(text.substr(text.size() - footer.size() - 1), "\n" + footer);
            EXPECT_EQ(occurrences(text, "<Nested>"), occurrences(text, "</Nested>"));
            const size_t outer = occurrences(text, "<Outer"), inner = occurrences(text, "<Inner");
            EXPECT_TRUE(inner == outer || inner + 1 == outer) << inner << " in " << outer;
        }
        stop = true;
        recorder.join();
    }
}

TEST_P(Concurrent, AnotherThreadCloses)
{
    for (int round = 0; round < 20; ++round) {
        TraceSettings small = settings();
        small.buffer_size = 1;
        small.force_flush = round % 2 == 1;
        Trace trace(small);
        std::atomic<bool> stop = false;
        std::atomic<int> recorded = 0;
        std::thread recorder([&] {
            while (!stop) {
                trace.begin();
                trace.state("Inner");
                trace.end("Outer", 0, 1);
                recorded += 2;
            }
            trace.writer.flush();
        });
        while (recorded < 1'000 * round % 7'000 + 10)
            std::this_thread::yield();
        EXPECT_EQ(trace.writer.close(), 0);
        const std::string text = text_of(trace);
        stop = true;
        recorder.join();
        EXPECT_EQ(text, text_of(trace));
        EXPECT_EQ(text.substr(text.size() - footer.size() - 1), "\n" + footer);
        EXPECT_EQ(occurrences(text, " time="), static_cast<size_t>(states_in_file(trace.writer)));
        EXPECT_EQ(trace.writer.states(), recorded);
    }
}

TraceWriter* interrupted_writer;

void close_in_handler(int)
{
    interrupted_writer->close();
}

// As when a batch system sends SIGTERM: at any point of the recording thread, also in the middle of a flush.
TEST_P(Concurrent, ASignalHandlerOfTheRecordingThreadCloses)
{
    struct sigaction action = {}, previous;
    action.sa_handler = close_in_handler;
    ASSERT_EQ(sigaction(SIGALRM, &action, &previous), 0);
    for (int round = 0; round < 30; ++round) {
        TraceSettings some = settings();
        some.force_flush = round % 2 == 1;
        const TemporaryDirectory directory;
        InfoWriter info;
        ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
        Trace trace(some, &info);
        interrupted_writer = &trace.writer;
        const itimerval soon = {{0, 0}, {0, 1'000 + 137 * round}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        int recorded = 0;
        while (trace.writer.dropped_states() == 0) {
            EXPECT_EQ(info.write("Line\n", 5), 0);
            trace.state("A");
            ++recorded;
        }
        trace.writer.flush();
        const std::string text = text_of(trace);
        EXPECT_EQ(text.substr(text.size() - footer.size() - 1), "\n" + footer);
        EXPECT_EQ(occurrences(text, "<A"), static_cast<size_t>(states_in_file(trace.writer)));
        EXPECT_EQ(trace.writer.states(), recorded);
    }
    sigaction(SIGALRM, &previous, nullptr);
}

} // namespace
} // namespace hdtrace::test
