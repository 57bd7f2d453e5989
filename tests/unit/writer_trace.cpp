// The .trc file, while everything goes well.
#include "writer_support.h"

#include "hdtrace/writer/descriptor.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace hdtrace::test {
namespace {

TEST(TraceFile, IsWellFormedFromTheStart)
{
    Trace trace;
    EXPECT_EQ(trace.content(), head + footer);
    EXPECT_EQ(trace.lines(), "");
}

TEST(TraceFile, NeedsNoRootAttributes)
{
    const TemporaryDirectory directory;
    TraceWriter writer;
    ASSERT_EQ(writer.open(directory.file("t").c_str(), "", 7, {}, nullptr), 0);
    EXPECT_EQ(writer.close(), 0);
    EXPECT_EQ(
        content_of(directory.file("t")),
        "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='7' version='1'>\n</Program>\n");
}

TEST(TraceFile, ReplacesAnOlderOne)
{
    const TemporaryDirectory directory;
    std::ofstream(directory.file("t")) << std::string(10'000, 'o');
    TraceWriter writer;
    ASSERT_EQ(writer.open(directory.file("t").c_str(), "rank='0' thread='0'", base_second, {}, nullptr), 0);
    EXPECT_EQ(writer.close(), 0);
    EXPECT_EQ(content_of(directory.file("t")), head + footer);
}

// A file that was emptied would be written to the disk when it is closed, while the program waits.
TEST(TraceFile, ReplacesAnOlderOneByANewFile)
{
    const TemporaryDirectory directory;
    std::ofstream(directory.file("t")) << "earlier";
    std::ifstream reader(directory.file("t"));
    TraceWriter writer;
    ASSERT_EQ(writer.open(directory.file("t").c_str(), "", 0, {}, nullptr), 0);
    EXPECT_EQ(writer.close(), 0);
    EXPECT_NE(content_of(directory.file("t")), "earlier");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "earlier");
}

TEST(TraceFile, IsClosedByTheDestructor)
{
    const TemporaryDirectory directory;
    {
        TraceWriter writer;
        ASSERT_EQ(writer.open(directory.file("t").c_str(), "rank='0' thread='0'", base_second, {}, nullptr),
                  0);
    }
    EXPECT_EQ(content_of(directory.file("t")), head + footer);
}

TEST(TraceFile, LeavesLowDescriptorsToTheProgram)
{
    const int before = open("/dev/null", O_RDONLY);
    close(before);
    Trace trace;
    const int after = open("/dev/null", O_RDONLY);
    close(after);
    EXPECT_EQ(before, after);
}

int size_of_descriptor_table()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("FDSize:"))
            return std::stoi(line.substr(7));
    }
    return 0;
}

TEST(TraceFile, NeedsNoLargerTableOfDescriptorsLater)
{
    const auto open_with_room = [] {
        make_room_for_descriptors();
        const int before = size_of_descriptor_table();
        const Trace trace;
        _exit(size_of_descriptor_table() == before ? 0 : 1);
    };
    EXPECT_EXIT(open_with_room(), testing::ExitedWithCode(0), "");
}

TEST(Times, HaveAsManyDigitsAsAsked)
{
    for (const auto& [digits, time] :
         {std::pair(6, "1.999999"), std::pair(7, "1.9999999"), std::pair(9, "1.999999999")}) {
        TraceSettings settings;
        settings.form.time_digits = digits;
        Trace trace(settings);
        trace.state("A", 2 * second - 1, 2 * second - 1);
        trace.event("e", 2 * second - 1);
        EXPECT_EQ(trace.lines(), state_line("A", time, time) + "\n<Event name='e' time='" + time + "' />\n");
    }
}

TEST(Times, ThatAreCutNeverEndBeforeTheyBegin)
{
    TraceSettings settings;
    settings.form.time_digits = 6;
    Trace trace(settings);
    trace.state("A", 1'999, 2'000);
    trace.state("B", 2'000, 2'999);
    EXPECT_EQ(trace.lines(), state_line("A", "0.000001", "0.000002") + "\n" +
                                 state_line("B", "0.000002", "0.000002") + "\n");
}

TEST(Element, HasAttributesChildrenAndText)
{
    Trace trace;
    trace.begin();
    {
        TextElement element(trace.writer);
        element.text("<Waitall count='").number(2).text("' name='").escaped("a<b>'c'").text("'");
        element.times(base_second * second, base_second * second + 5);
        element.child("<For rid='").number(7).text("'").end_child();
        element.child("<For rid='").number(8).text("'").end_child();
        element.children("<Info a='b' />", 14);
        element.end("Waitall");
    }
    EXPECT_EQ(trace.lines(),
              "<Waitall count='2' name='a&lt;b&gt;&apos;c&apos;' time='0.000000000' end='0.000000005' >"
              "<For rid='7' /><For rid='8' /><Info a='b' /></Waitall>\n");
}

TEST(Element, MayBeMuchLongerThanTheBuffer)
{
    Trace trace;
    const size_t length = 3'000'000;
    trace.state("Before");
    trace.long_state(length);
    trace.state("After");
    EXPECT_EQ(trace.lines(), state_line("Before") + "\n<Long text='" + std::string(length, 'x') +
                                 "' time='0.000000000' end='0.000000000' />\n" + state_line("After") + "\n");
    EXPECT_EQ(states_in_file(trace.writer), 3);
    EXPECT_EQ(trace.writer.dropped_states(), 0);
}

TEST(Element, MayHaveManyChildren)
{
    Trace trace;
    trace.begin();
    std::string expected = "<Waitall time='0.000000000' end='0.000000000' >";
    {
        TextElement element(trace.writer);
        element.text("<Waitall").times(base_second * second, base_second * second);
        for (int i = 0; i < 100'000; ++i) {
            element.child("<For rid='").number(i).text("'").end_child();
            expected += "<For rid='" + std::to_string(i) + "' />";
        }
        element.end("Waitall");
    }
    EXPECT_EQ(trace.lines(), expected + "</Waitall>\n");
}

TEST(Times, AreExact)
{
    Trace trace;
    trace.state("A", 0, 1);
    trace.state("A", 123'456'789, 999'999'999);
    trace.state("A", 999'999'999, second);
    trace.state("A", second + 1, 10 * second - 1);
    trace.state("A", 10 * second, 12'345'678 * second + 9);
    trace.state("A", 5, 6); // an earlier second again
    EXPECT_EQ(trace.lines(), state_line("A", "0.000000000", "0.000000001") + "\n" +
                                 state_line("A", "0.123456789", "0.999999999") + "\n" +
                                 state_line("A", "0.999999999", "1.000000000") + "\n" +
                                 state_line("A", "1.000000001", "9.999999999") + "\n" +
                                 state_line("A", "10.000000000", "12345678.000000009") + "\n" +
                                 state_line("A", "0.000000005", "0.000000006") + "\n");
}

TEST(Times, AreExactWhereAnyDigitTurnsOver)
{
    const auto text = [](int64_t time) {
        char digits[32];
        snprintf(digits, sizeof digits, "%ld.%09ld", time / second, time % second);
        return std::string(digits);
    };
    Trace trace;
    std::string expected;
    for (int64_t power = 1; power <= 10 * second; power *= 10) {
        for (const int64_t begin : {power - 1, power, 3 * power - 1, 987'654'321 / power * power}) {
            trace.state("A", begin, begin + 1);
            expected += state_line("A", text(begin), text(begin + 1)) + "\n";
        }
    }
    EXPECT_EQ(trace.lines(), expected);
}

TEST(Times, BeforeTheBaseAreZero)
{
    Trace trace;
    trace.state("A", -1, 5);
    trace.state("A", -7 * second, -3);
    trace.state("A", 3, 2 * second);
    EXPECT_EQ(trace.lines(), state_line("A", "0.000000000", "0.000000005") + "\n" +
                                 state_line("A", "0.000000000", "0.000000000") + "\n" +
                                 state_line("A", "0.000000003", "2.000000000") + "\n");
}

TEST(Nesting, InnerStatesStandBeforeTheirOwner)
{
    Trace trace;
    trace.begin();
    trace.state("Inner");
    trace.state("Sibling");
    trace.end("Outer", 0, 1);
    trace.state("Next");
    EXPECT_EQ(trace.lines(), "<Nested>" + state_line("Inner") + state_line("Sibling") + "</Nested>" +
                                 state_line("Outer") + "\n" + state_line("Next") + "\n");
}

TEST(Nesting, ThreeDeepWithSiblings)
{
    Trace trace;
    trace.begin();
    trace.begin();
    trace.state("A");
    trace.state("B");
    trace.end("C", 0, 1);
    trace.begin();
    trace.state("D");
    trace.end("E", 0, 1);
    trace.state("F");
    trace.end("G", 0, 1);
    EXPECT_EQ(trace.lines(), "<Nested><Nested>" + state_line("A") + state_line("B") + "</Nested>" +
                                 state_line("C") + "<Nested>" + state_line("D") + "</Nested>" +
                                 state_line("E") + state_line("F") + "</Nested>" + state_line("G") + "\n");
    EXPECT_EQ(states_in_file(trace.writer), 7);
}

TEST(Nesting, AsDeepAsItGoes)
{
    Trace trace;
    std::string expected;
    for (int depth = 0; depth < TraceWriter::max_depth; ++depth)
        trace.begin();
    for (int depth = 0; depth < TraceWriter::max_depth; ++depth) {
        trace.end("A", 0, 1);
        expected += (depth == 0 ? "" : "</Nested>") + state_line("A");
    }
    std::string opening;
    for (int depth = 1; depth < TraceWriter::max_depth; ++depth)
        opening += "<Nested>";
    EXPECT_EQ(trace.lines(), opening + expected + "\n");
}

TEST(Nesting, SurvivesFlushesBetweenTheStates)
{
    Trace trace;
    trace.state("Before");
    trace.begin();
    EXPECT_EQ(trace.writer.flush(), 0);
    trace.state("Inner");
    EXPECT_EQ(trace.writer.flush(), 0);
    EXPECT_EQ(trace.content(), head + state_line("Before") + "\n" + footer);
    trace.state("Inner");
    EXPECT_EQ(trace.writer.flush(), 0);
    trace.end("Outer", 0, 1);
    EXPECT_EQ(trace.writer.flush(), 0);
    EXPECT_EQ(states_in_file(trace.writer), 4);
    EXPECT_EQ(trace.lines(), state_line("Before") + "\n<Nested>" + state_line("Inner") + state_line("Inner") +
                                 "</Nested>" + state_line("Outer") + "\n");
}

TEST(Nesting, ALineLongerThanTheBufferStaysWhole)
{
    Trace trace;
    std::string expected;
    trace.begin();
    for (int i = 0; i < 20'000; ++i) {
        trace.state("Inner", i, i + 1);
        expected += state_line("Inner", "0.0000" + std::to_string(100'000 + i).substr(1),
                               "0.0000" + std::to_string(100'001 + i).substr(1));
    }
    EXPECT_EQ(trace.content(), head + footer);
    trace.end("Outer", 0, 1);
    trace.state("Next");
    EXPECT_EQ(trace.lines(),
              "<Nested>" + expected + "</Nested>" + state_line("Outer") + "\n" + state_line("Next") + "\n");
}

TEST(Event, IsNotAState)
{
    Trace trace;
    trace.event("alone", 3);
    trace.begin();
    trace.event("in <a> state", 4);
    trace.end("A", 0, 5);
    EXPECT_EQ(trace.lines(), "<Event name='alone' time='0.000000003' />\n"
                             "<Nested><Event name='in &lt;a&gt; state' time='0.000000004' /></Nested>" +
                                 state_line("A", "0.000000000", "0.000000005") + "\n");
    EXPECT_EQ(states_in_file(trace.writer), 1);
}

TEST(Flush, NothingIsWrittenBeforeTheBufferIsFull)
{
    Trace trace;
    trace.state("A");
    EXPECT_EQ(trace.content(), head + footer);
    EXPECT_EQ(states_in_file(trace.writer), 0);
    EXPECT_EQ(trace.writer.flush(), 0);
    EXPECT_EQ(trace.content(), head + state_line("A") + "\n" + footer);
    EXPECT_EQ(states_in_file(trace.writer), 1);
}

TEST(Flush, AWholeTraceIsOnDiskAtEveryMoment)
{
    TraceSettings settings;
    settings.buffer_size = 1; // as small as it can be
    Trace trace(settings);
    size_t size = 0, growths = 0;
    for (int i = 0; i < 5'000; ++i) {
        trace.begin();
        for (int inner = 0; inner < i % 4; ++inner)
            trace.state("Inner");
        trace.end("Outer", i, i + 1);
        const size_t now = std::filesystem::file_size(trace.path());
        if (now == size)
            continue;
        const std::string content = trace.content();
        ASSERT_EQ(content.substr(content.size() - footer.size() - 1), "\n" + footer);
        ASSERT_EQ(occurrences(content, "<Nested>"), occurrences(content, "</Nested>"));
        size = now;
        ++growths;
    }
    EXPECT_GT(growths, 5u);
    trace.writer.close();
    EXPECT_EQ(states_in_file(trace.writer), 5'000 + 1'250 * (1 + 2 + 3));
}

TEST(Flush, ForcedWritesEveryLineAtOnce)
{
    TraceSettings settings;
    settings.force_flush = true;
    Trace trace(settings);
    trace.state("A");
    EXPECT_EQ(trace.content(), head + state_line("A") + "\n" + footer);
    trace.begin();
    trace.state("Inner");
    EXPECT_EQ(trace.content(), head + state_line("A") + "\n" + footer);
    trace.end("Outer", 0, 1);
    EXPECT_EQ(trace.content(), head + state_line("A") + "\n<Nested>" + state_line("Inner") + "</Nested>" +
                                   state_line("Outer") + "\n" + footer);
    trace.event("E", 1);
    EXPECT_EQ(trace.content().back(), '\n');
    EXPECT_EQ(occurrences(trace.content(), "<Event"), 1u);
}

TEST(Flush, CanBeForcedForAWhile)
{
    Trace trace;
    trace.state("A");
    trace.writer.set_force_flush(true);
    EXPECT_EQ(occurrences(trace.content(), "<A"), 0u);
    trace.state("A");
    EXPECT_EQ(occurrences(trace.content(), "<A"), 2u);
    trace.writer.set_force_flush(false);
    trace.state("A");
    trace.state("A");
    EXPECT_EQ(occurrences(trace.content(), "<A"), 2u);
    EXPECT_EQ(occurrences(trace.lines(), "<A"), 4u);
}

// A buffer that has grown would keep more and more lines from the disk.
TEST(Flush, ABufferThatGrewIsSmallAgain)
{
    TraceSettings settings;
    settings.buffer_size = 1;
    Trace trace(settings);
    trace.long_state(10'000'000);
    const size_t after_long = std::filesystem::file_size(trace.path());
    EXPECT_GT(after_long, 10'000'000u);
    for (int i = 0; i < 2'000; ++i)
        trace.state("A");
    EXPECT_GT(std::filesystem::file_size(trace.path()), after_long);
}

TEST(Close, MakesTheTraceWholeAndDropsWhatComesLater)
{
    Trace trace;
    trace.state("A");
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
    trace.state("B");
    EXPECT_EQ(trace.writer.flush(), 0);
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
    EXPECT_EQ(states_in_file(trace.writer), 1);
    EXPECT_EQ(trace.writer.dropped_states(), 1);
}

TEST(Close, LeavesAnOpenStateOut)
{
    Trace trace;
    trace.state("A");
    trace.begin();
    trace.state("Inner");
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
    trace.end("Outer", 0, 1);
    trace.writer.flush();
    EXPECT_EQ(states_in_file(trace.writer), 1);
    EXPECT_EQ(trace.writer.dropped_states(), 2);
}

TEST(Clock, CountsFromTheEpochAndNeverGoesBack)
{
    Clock clock;
    EXPECT_NEAR(static_cast<double>(clock.now()) / 1e9, static_cast<double>(time(nullptr)), 2.0);
    int64_t last = clock.now();
    for (int i = 0; i < 100'000; ++i) {
        const int64_t now = clock.now();
        ASSERT_GE(now, last);
        last = now;
    }
}

// Also when it has not been read for a while, and while others read it.
TEST(Clock, IsTheMonotonicClockForAllThreads)
{
    const auto compare = [] {
        constexpr int64_t tolerance = 20'000;
        Clock clock;
        for (int pause = 0; pause < 3; ++pause) {
            for (int i = 0; i < 100'000; ++i) {
                const int64_t before = detail::read_clock(CLOCK_MONOTONIC);
                const int64_t time = clock.now() - clock_offset();
                const int64_t after = detail::read_clock(CLOCK_MONOTONIC);
                ASSERT_GE(time, before - tolerance);
                ASSERT_LE(time, after + tolerance);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
        }
    };
    std::thread other(compare);
    compare();
    other.join();
}

TEST(Clock, IsTheSameForAllThreads)
{
    int64_t offset = 0;
    std::thread([&offset] { offset = clock_offset(); }).join();
    EXPECT_EQ(clock_offset(), offset);
}

} // namespace
} // namespace hdtrace::test
