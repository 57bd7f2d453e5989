// States that have not ended when the trace is saved or closed.
#include "writer_support.h"

namespace hdtrace::test {
namespace {

constexpr int64_t base = base_second * second;

// The file, with the moments of saving as 'T'.
std::string saved(Trace& trace)
{
    EXPECT_EQ(trace.writer.save(), 0);
    const std::string content = trace.content();
    EXPECT_EQ(content.substr(0, head.size()), head);
    return std::regex_replace(content.substr(head.size()), std::regex("end='[0-9.]+' unfinished='1'"),
                              "end='T' unfinished='1'");
}

void begin(Trace& trace, const char* name, int64_t time)
{
    trace.begin(name, base + time);
}

TEST(Unfinished, AStateIsInTheFileUntilItEnds)
{
    Trace trace;
    trace.state("A");
    begin(trace, "B", 1'000'000'002);
    const std::string unfinished = "<B time='1.000000002' end='T' unfinished='1' />\n";
    EXPECT_EQ(saved(trace), state_line("A") + "\n" + unfinished + footer);
    EXPECT_EQ(saved(trace), state_line("A") + "\n" + unfinished + footer) << "saving again changes nothing";
    trace.end("B", 1'000'000'002, 1'000'000'003);
    const std::string finished = state_line("B", "1.000000002", "1.000000003") + "\n";
    EXPECT_EQ(trace.lines(), state_line("A") + "\n" + finished);
    EXPECT_EQ(states_in_file(trace.writer), 2);
}

TEST(Unfinished, TheEndIsTheMomentOfSaving)
{
    Trace trace;
    Clock clock;
    const int64_t before = clock.now();
    trace.begin("A", before);
    trace.writer.save();
    const std::string content = trace.content();
    std::smatch times;
    ASSERT_TRUE(std::regex_search(content, times,
                                  std::regex("time='([0-9]+)\\.([0-9]{9})' end='([0-9]+)\\.([0-9]{9})'")));
    const auto in_nanoseconds = [&](int i) {
        return std::stoll(times[i]) * second + std::stoll(times[i + 1]);
    };
    EXPECT_EQ(in_nanoseconds(1), before - base);
    EXPECT_GE(in_nanoseconds(3), before - base);
    EXPECT_LE(in_nanoseconds(3), clock.now() - base);
}

TEST(Unfinished, TimesHaveAsManyDigitsAsOthers)
{
    TraceSettings settings;
    settings.form.time_digits = 6;
    Trace trace(settings);
    begin(trace, "A", 1'999);
    EXPECT_EQ(trace.writer.save(), 0);
    EXPECT_TRUE(std::regex_search(
        trace.content(), std::regex("<A time='0\\.000001' end='[0-9]+\\.[0-9]{6}' unfinished='1' />")));
}

TEST(Unfinished, StatesStandInEachOther)
{
    Trace trace;
    begin(trace, "A", 0);
    begin(trace, "B", 1);
    begin(trace, "C", 2);
    EXPECT_EQ(saved(trace), "<Nested><Nested><C time='0.000000002' end='T' unfinished='1' /></Nested>"
                            "<B time='0.000000001' end='T' unfinished='1' /></Nested>"
                            "<A time='0.000000000' end='T' unfinished='1' />\n" +
                                footer);
}

TEST(Unfinished, WhatHasEndedInsideIsKept)
{
    Trace trace;
    begin(trace, "A", 0);
    trace.state("X");
    begin(trace, "B", 1);
    trace.state("Y");
    EXPECT_EQ(saved(trace), "<Nested>" + state_line("X") + "<Nested>" + state_line("Y") + "</Nested>" +
                                "<B time='0.000000001' end='T' unfinished='1' /></Nested>"
                                "<A time='0.000000000' end='T' unfinished='1' />\n" +
                                footer);
    trace.end("B", 1, 2);
    EXPECT_EQ(saved(trace), "<Nested>" + state_line("X") + "<Nested>" + state_line("Y") + "</Nested>" +
                                state_line("B", "0.000000001", "0.000000002") +
                                "</Nested>"
                                "<A time='0.000000000' end='T' unfinished='1' />\n" +
                                footer);
}

TEST(Unfinished, SurvivesFlushesInside)
{
    TraceSettings settings;
    settings.buffer_size = 1;
    Trace trace(settings);
    trace.state("A");
    begin(trace, "B", 0);
    constexpr int count = 5'000;
    for (int i = 0; i < count; ++i)
        trace.state("X");
    const std::string content = saved(trace);
    EXPECT_EQ(occurrences(content, "<X "), static_cast<size_t>(count));
    EXPECT_EQ(occurrences(content, "</Nested><B time='0.000000000' end='T' unfinished='1' />\n" + footer),
              1u);
}

TEST(Unfinished, IsCountedByClose)
{
    Trace trace;
    trace.state("A");
    begin(trace, "B", 0);
    trace.state("X");
    begin(trace, "C", 1);
    const std::string lines = trace.lines();
    EXPECT_EQ(occurrences(lines, "unfinished='1'"), 2u);
    EXPECT_EQ(states_in_file(trace.writer), 4);
    EXPECT_EQ(trace.writer.dropped_states(), 0);
}

TEST(Unfinished, StatesWithoutANameAreNotSeen)
{
    Trace trace;
    trace.state("A");
    trace.begin();
    trace.state("X");
    EXPECT_EQ(saved(trace), state_line("A") + "\n" + footer);
}

TEST(Unfinished, AShorterEndLeavesNothingOfALongerOne)
{
    Trace trace;
    begin(trace, "A_long_name_that_takes_its_place_in_the_file", 0);
    begin(trace, "B_long_name_that_takes_its_place_in_the_file", 0);
    saved(trace);
    trace.end("B", 0, 1);
    trace.end("A", 0, 1);
    EXPECT_EQ(trace.lines(), "<Nested>" + state_line("B") + "</Nested>" + state_line("A") + "\n");
}

} // namespace
} // namespace hdtrace::test
