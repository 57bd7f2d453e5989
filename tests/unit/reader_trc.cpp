#include <algorithm>
#include <gtest/gtest.h>
#include <libxml/xmlversion.h>

#include "hdtrace/format/interruption.h"
#include "hdtrace/format/trc_reader.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::Outcome;
using test::TemporaryFile;

constexpr std::int64_t second = 1'000'000'000;

const std::string small_trace =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<Program timeAdjustment='100' version='1' rank='3' thread='1'>\n"
    "<Init time='0.000000001' end='0.000000002' />\n"
    "<Wait time='1.000000000' end='2.000000000' ><For rid='7' /><For rid='8' /></Wait>\n"
    "<Event name='here &amp; now' time='3.000000000' />\n"
    "</Program>\n";

Outcome read_all(const std::string& path)
{
    TrcReader reader(path);
    return test::read_all(reader);
}

Outcome read_text(std::string_view text)
{
    const TemporaryFile file("app_host_0_0.trc", text);
    return read_all(file.path());
}

Outcome read_lines(const std::string& lines)
{
    return read_text("<Program timeAdjustment='0'>\n" + lines + "</Program>\n");
}

// The place and reason of the error that reading @p text ends with, without the name of the file.
std::string error_of(std::string_view text)
{
    const TemporaryFile file("app_host_0_0.trc", text);
    try {
        read_all(file.path());
    } catch (const ReadError& error) {
        EXPECT_EQ(error.file(), file.path());
        return std::string(error.what()).substr(file.path().size() + 1);
    }
    return "no error";
}

std::string error_of_lines(const std::string& lines)
{
    return error_of("<Program timeAdjustment='0'>\n" + lines + "</Program>\n");
}

TEST(TrcReader, YieldsStatesInOrder)
{
    const Outcome trace = read_text(small_trace);
    ASSERT_EQ(trace.states.size(), 3u);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.missing, "");

    const State& init = trace.states[0];
    EXPECT_EQ(init.name, "Init");
    EXPECT_EQ(init.time, 100 * second + 1);
    EXPECT_EQ(init.end, 100 * second + 2);
    EXPECT_EQ(init.line, 3);
    EXPECT_TRUE(init.attributes.empty());
    EXPECT_FALSE(init.is_event);

    const State& wait = trace.states[1];
    const std::vector<Element> children = {{"For", {{"rid", "7"}}}, {"For", {{"rid", "8"}}}};
    EXPECT_EQ(wait.children, children);

    const State& event = trace.states[2];
    EXPECT_TRUE(event.is_event);
    EXPECT_EQ(event.name, "Event");
    EXPECT_EQ(*event.find("name"), "here & now");
    EXPECT_EQ(event.time, 103 * second);
    EXPECT_EQ(event.end, event.time);
    EXPECT_EQ(event.line, 5);
}

TEST(TrcReader, KeepsTheOrderOfAttributes)
{
    const Outcome trace = read_lines("<Send size='8' count='2' tid='0' time='1' end='2' toRank='1' />\n");
    const AttributeList attributes = {{"size", "8"}, {"count", "2"}, {"tid", "0"}, {"toRank", "1"}};
    EXPECT_EQ(trace.states.at(0).attributes, attributes);
}

TEST(TrcReader, DecodesValues)
{
    const Outcome trace = read_lines("<A name='&lt;&amp;&gt;&apos;&quot;&#10;&#9;ü' time=\"1\" end='2'/>\n");
    EXPECT_EQ(*trace.states.at(0).find("name"), "<&>'\"\n\tü");
}

TEST(TrcReader, AttachesNestedStatesToWhatFollows)
{
    const Outcome trace =
        read_lines("<Nested><Nested><C time='1' end='2' /></Nested><B time='1' end='2' ><For rid='1' /></B>"
                   "<Event name='e' time='2' /></Nested><A time='0' end='3' ><Info key='k' /></A>\n"
                   "<D time='4' end='5' />\n");
    ASSERT_EQ(trace.states.size(), 2u);
    const State& a = trace.states[0];
    ASSERT_EQ(a.nested.size(), 2u);
    EXPECT_EQ(a.children.at(0).name, "Info");
    EXPECT_EQ(a.nested[0].name, "B");
    EXPECT_EQ(a.nested[0].children.at(0).name, "For");
    EXPECT_EQ(a.nested[0].nested.at(0).name, "C");
    EXPECT_TRUE(a.nested[1].is_event);
    EXPECT_TRUE(trace.states[1].nested.empty());
}

TEST(TrcReader, ReadsDeeplyNestedStates)
{
    std::string line = "<A time='1' end='2' />";
    for (int depth = 0; depth < 64; ++depth)
        line = "<Nested>" + line + "</Nested><A time='1' end='2' />";
    State state = read_lines(line + "\n").states.at(0);
    int depth = 0;
    for (; !state.nested.empty(); ++depth)
        state = State(state.nested[0]);
    EXPECT_EQ(depth, 64);
}

TEST(TrcReader, IgnoresWhatItDoesNotKnow)
{
    const Outcome trace = read_lines("<!-- comment --><?pi?>\n"
                                     "<A time='1' end='2'>text<New a='1'><Newer time='x'/>more</New></A>\n");
    const std::vector<Element> children = {{"New", {{"a", "1"}}}};
    EXPECT_EQ(trace.states.at(0).children, children);
}

TEST(TrcReader, ReadsTheFormOfTheSpecification)
{
    const Outcome trace = read_text("<Program rank='1' thread='0'>\n"
                                    "<File_write_at_all_begin file='2' aid='0'\n"
                                    "  time='1240424724.531647' end='1240424724.531654' >\n"
                                    "  <Data offset='0' size='1' count='1' type='1275068673' />\n"
                                    "</File_write_at_all_begin>\n"
                                    "<Wait time='1240497420.076415' end\n"
                                    "  = '1240497420.076418' >\n"
                                    "  <For rid='0' />\n"
                                    "</Wait>\n"
                                    "</Program>");
    ASSERT_EQ(trace.states.size(), 2u);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.states[0].time, 1'240'424'724'531'647'000);
    EXPECT_EQ(*trace.states[0].find("fid"), "2");
    EXPECT_EQ(*trace.states[0].find("rid"), "0");
    EXPECT_EQ(*trace.states[0].children.at(0).find("tid"), "1275068673");
    EXPECT_EQ(trace.states[1].end, 1'240'497'420'076'418'000);
}

TEST(TrcReader, KnowsWhoseTraceItIs)
{
    const TemporaryFile of_root("app_host_7_8.trc", small_trace);
    const TrcReader reader(of_root.path());
    EXPECT_EQ(reader.rank(), 3);
    EXPECT_EQ(reader.thread(), 1);
    EXPECT_EQ(reader.time_adjustment(), 100 * second);
    EXPECT_EQ(reader.attributes().size(), 4u);

    const TemporaryFile of_name("my_app_host_7_8.trc", "<Program timeAdjustment='1'></Program>");
    EXPECT_EQ(TrcReader(of_name.path()).rank(), 7);
    EXPECT_EQ(TrcReader(of_name.path()).thread(), 8);

    const TemporaryFile of_other_levels("solver_node01_3.trc", "<Program></Program>");
    EXPECT_EQ(TrcReader(of_other_levels.path()).rank(), std::nullopt);
    EXPECT_EQ(TrcReader(of_other_levels.path()).thread(), std::nullopt);

    const TemporaryFile unknown("solver.trc", "<Program></Program>");
    EXPECT_EQ(TrcReader(unknown.path()).rank(), std::nullopt);
    EXPECT_EQ(TrcReader(unknown.path()).time_adjustment(), 0);
}

TEST(TrcReader, AcceptsATraceWithoutStates)
{
    EXPECT_TRUE(read_text("<Program timeAdjustment='0'>\n</Program>\n").complete);
    EXPECT_TRUE(read_text("<Program timeAdjustment='0' />\n").complete);
}

TEST(TrcReader, CutOffAnywhereYieldsWholeLines)
{
    const std::size_t end_of_root = small_trace.find("</Program>") + std::string("</Program>").size();
    for (std::size_t size = 0; size <= small_trace.size(); ++size) {
        const Outcome trace = read_text(small_trace.substr(0, size));
        const auto whole_lines = std::count(small_trace.begin(), small_trace.begin() + size, '\n');
        const std::size_t states = std::clamp<std::ptrdiff_t>(whole_lines - 2, 0, 3);
        EXPECT_EQ(trace.states.size(), states) << size;
        EXPECT_EQ(trace.complete, size >= end_of_root) << size;
        EXPECT_EQ(trace.missing.empty(), trace.complete) << size;
    }
}

TEST(TrcReader, SaysWhatIsMissing)
{
    EXPECT_EQ(read_text("").missing, "all from <Program> on");
    EXPECT_EQ(read_text("<?xml version='1.0'").missing, "the end of line 1 and all from <Program> on");
    EXPECT_EQ(read_text("<Program>\n<A time='1' end='2' />\n").missing, "</Program>");
    EXPECT_EQ(read_text("<Program>\n<A time='1' end='2' />\n<B").missing, "the end of line 3 and </Program>");
}

TEST(TrcReader, DropsAStateThatWasCutOffBetweenLines)
{
    const Outcome trace =
        read_text("<Program>\n<A time='1' end='2' />\n<B\n time='1'\n end='2'>\n<For rid='1' />\n");
    ASSERT_EQ(trace.states.size(), 1u);
    EXPECT_EQ(trace.missing, "</Program>");
    EXPECT_EQ(read_text("<Program>\n<Nested><A time='1' end='2' /></Nested>\n").states.size(), 0u);
}

TEST(TrcReader, SurvivesAnEndOfZeros)
{
    const Outcome trace = read_text("<Program>\n<A time='1' end='2' />\n" + std::string(5000, '\0'));
    EXPECT_EQ(trace.states.size(), 1u);
    EXPECT_FALSE(trace.complete);
}

TEST(TrcReader, IsNotCompleteBeforeTheEnd)
{
    const TemporaryFile file("app_host_0_0.trc", small_trace);
    TrcReader reader(file.path());
    State state;
    EXPECT_TRUE(reader.next(state));
    EXPECT_FALSE(reader.complete());
}

TEST(TrcReader, NamesThePlaceOfSyntaxErrors)
{
    const std::string good = "<A time='1' end='2' />\n";
    EXPECT_EQ(error_of_lines(good + "<B time='1' end='2'></C>\n" + good),
              "3:25: Opening and ending tag mismatch: B line 3 and C");
    EXPECT_EQ(error_of_lines(good + "<B time='1' end='2' a='&b;' />\n" + good),
              "3:27: Entity 'b' not defined");
    EXPECT_EQ(error_of_lines(good + "<B time='1' time='2' />\n" + good), "3:22: Attribute time redefined");
    EXPECT_EQ(error_of_lines(good + "<B time=1 />\n" + good), "3:9: AttValue: \" or ' expected");
    EXPECT_EQ(error_of_lines(good + "<1 />\n"), "3:2: StartTag: invalid element name");
    EXPECT_EQ(error_of_lines(good + "<B a='a & b' />\n"), "3:10: xmlParseEntityRef: no name");
    EXPECT_EQ(error_of("<Program>\n</Program>\n<Program>\n"),
              "3:1: Extra content at the end of the document");
    EXPECT_EQ(error_of("hello\n"),
              LIBXML_VERSION < 21500 ? "1:1: Document is empty" : "1:1: Start tag expected, '<' not found");
}

TEST(TrcReader, YieldsWhatStandsBeforeAnErrorAndRepeatsIt)
{
    std::string lines;
    for (int i = 0; i < 1000; ++i)
        lines += "<A time='1' end='2' />\n";
    const TemporaryFile file("app_host_0_0.trc", "<Program>\n" + lines + "<B></C>\n</Program>\n");
    TrcReader reader(file.path());
    State state;
    for (int i = 0; i < 950; ++i)
        EXPECT_TRUE(reader.next(state));
    EXPECT_THROW(while (reader.next(state)){}, ReadError);
    EXPECT_THROW(reader.next(state), ReadError);
    EXPECT_FALSE(reader.complete());
}

TEST(TrcReader, NamesTheLineOfWhatIsNotATrace)
{
    EXPECT_EQ(error_of("<Application>\n</Application>\n"),
              "1: this is no trace: its root is <Application>, not <Program>");
    EXPECT_EQ(error_of("<Program version='2'>\n</Program>\n"),
              "1: written by a newer version of hdtrace: read it with that version");
    EXPECT_EQ(error_of("<Program timeAdjustment='now'>\n</Program>\n"),
              "1: timeAdjustment='now' is not a time in seconds");
    EXPECT_EQ(error_of_lines("<A end='2' />\n"), "2: <A> has no attribute time");
    EXPECT_EQ(error_of_lines("<A time='2' />\n"), "2: <A> has no attribute end");
    EXPECT_EQ(error_of_lines("<Event name='e' />\n"), "2: <Event> has no attribute time");
    EXPECT_EQ(error_of_lines("\n<A time='1' end='2,5' />\n"),
              "3: end='2,5' is not a time in seconds with at most nine decimals");
    EXPECT_EQ(error_of("<Program timeAdjustment='9223372036'>\n<A time='1' end='2' />\n</Program>\n"),
              "2: time='1' is not a time in seconds with at most nine decimals");
    EXPECT_EQ(error_of_lines("<Nested><A time='1' end='2' /></Nested>\n"),
              "2: no state follows <Nested>, which stands before its owner");
    EXPECT_EQ(error_of_lines("<A time='1' end='2' />\nlost\n"), "3: text between the states");
}

TEST(TrcReader, CountsLinesBeyondWhatLibxml2Counts)
{
    std::string lines;
    for (int line = 2; line < 70'000; ++line)
        lines += "<A time='1' end='2' />\n";
    const Outcome trace = read_lines(lines);
    for (const State& state : trace.states)
        ASSERT_EQ(state.line, &state - trace.states.data() + 2);
    EXPECT_EQ(error_of_lines(lines + "<B time='1' />\n"), "70000: <B> has no attribute end");
    EXPECT_EQ(error_of_lines(lines + "<B></C>\n").substr(0, 8), "70000:8:");
}

TEST(TrcReader, ReadsLongLines)
{
    std::string line = "<Alltoallv time='1' end='2' name='" + std::string(200'000, 'x') + "' >";
    for (int rank = 0; rank < 10'000; ++rank)
        line += "<Send rank='" + std::to_string(rank) + "' size='8' />";
    const Outcome trace = read_lines(line + "</Alltoallv>\n");
    EXPECT_EQ(trace.states.at(0).children.size(), 10'000u);
    EXPECT_EQ(trace.states.at(0).find("name")->size(), 200'000u);
}

TEST(TrcReader, RefusesDocumentTypes)
{
    const std::string reason = "a document type declaration (<!DOCTYPE>) is not allowed here";
    EXPECT_EQ(error_of("<!DOCTYPE Program>\n<Program>\n</Program>\n").substr(1), reason);
    const TemporaryFile secret("secret", "the secret");
    const std::string external = "<!DOCTYPE Program [<!ENTITY e SYSTEM '" + secret.path() + "'>]>\n";
    EXPECT_EQ(error_of(external + "<Program>\n<A time='1' end='2' >&e;</A>\n</Program>\n").substr(1), reason);
    const std::string dtd = "<!DOCTYPE Program SYSTEM '" + secret.path() + "'>\n";
    EXPECT_EQ(error_of(dtd + "<Program>\n</Program>\n").substr(1), reason);
}

TEST(TrcReader, RefusesEntitiesThatGrow)
{
    std::string text = "<!DOCTYPE Program [\n<!ENTITY e0 'ha'>\n";
    for (int level = 1; level < 30; ++level) {
        const std::string smaller = "&e" + std::to_string(level - 1) + ";";
        text += "<!ENTITY e" + std::to_string(level) + " '" + smaller + smaller + smaller + "'>\n";
    }
    text += "]>\n<Program>\n<A time='1' end='2' name='&e29;' >&e29;</A>\n</Program>\n";
    EXPECT_NE(error_of(text), "no error");
}

TEST(TrcReader, SaysWhyAFileCannotBeRead)
{
    const auto error_number = [](const std::string& path) {
        try {
            read_all(path);
        } catch (const OpenError& error) {
            EXPECT_EQ(error.file(), path);
            return error.code().value();
        }
        return 0;
    };
    EXPECT_EQ(error_number("/nowhere/app_host_0_0.trc"), ENOENT);
    EXPECT_EQ(error_number("/tmp"), EISDIR);
    EXPECT_EQ(error_number("/proc/self/mem"), EIO);
}

struct Interrupted {};

TEST(InterruptionCheck, EndsWhatIsReadByWhomever)
{
    std::string lines;
    for (int i = 0; i < 1'000'000; ++i)
        lines += "<A time='1' end='2' />\n";
    const std::string odd = "\n<A time='1'\nend='2' />\n"; // which libxml2 has to read, and all that follows
    for (const std::string& begin : {std::string(), odd}) {
        const TemporaryFile file("app_host_0_0.trc", "<Program timeAdjustment='1' version='1'>\n" + begin +
                                                         lines + "</Program>\n");
        static int checks = 0;
        checks = 0;
        const InterruptionCheck check([] {
            if (++checks == 2)
                throw Interrupted();
        });
        EXPECT_THROW(read_all(file.path()), Interrupted);
        EXPECT_EQ(checks, 2);
    }
}

TEST(InterruptionCheck, IsOverWithItsBlock)
{
    const TemporaryFile file("app_host_0_0.trc", small_trace);
    {
        const InterruptionCheck outer([] {});
        {
            const InterruptionCheck check([] { throw Interrupted(); });
            EXPECT_THROW(detail::check_for_interruption_now(), Interrupted);
        }
        detail::check_for_interruption_now();
    }
    EXPECT_TRUE(read_all(file.path()).complete);
}

} // namespace
} // namespace hdtrace
