// The fast reader of lines and libxml2 read the same.
#include <gtest/gtest.h>
#include <libxml/xmlversion.h>

#include <sys/stat.h>

#include <thread>

#include "hdtrace/format/line_parser.h"
#include "hdtrace/format/trc_reader.h"
#include "tests/unit/reader_oracle.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::read;
using test::read_with_libxml2;
using test::Result;
using test::TemporaryFile;
using test::TemporaryFolder;

// libxml2 may lose states before an error, and before the end of what was cut off.
void expect_same(const std::string& text)
{
    const TemporaryFile file("app_host_0_0.trc", text);
    const Result ours = read(file.path());
    Result expected = read_with_libxml2(file.path());
    EXPECT_EQ(ours.error, expected.error)
        << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
    EXPECT_EQ(ours.complete, expected.complete)
        << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
    EXPECT_EQ(ours.missing, expected.missing)
        << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
    if (ours.complete) {
        EXPECT_EQ(ours.states.size(), expected.states.size())
            << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
    }
    ASSERT_GE(ours.states.size(), expected.states.size())
        << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
    for (std::size_t i = 0; i < expected.states.size(); ++i)
        EXPECT_EQ(ours.states[i], expected.states[i])
            << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
}

const std::string good = "<A time='1' end='2' />\n";

// Lines that are in the subset, that are not, and that are wrong.
const std::string lines[] = {
    "<A time='1' end='2'/>",
    "<A time='1.5' end=\"2.000000001\" ><For rid='1' /><For rid='2'></For></A>",
    "\t<A end='2' time='1' ></A> ",
    "<A time='1' end='2' />\r",
    "<A b = 'x' time='1' end='2' />",
    "<A a='&lt;&gt;&amp;&apos;&quot;&#10;&#13;&#9;' b='x&amp;y' time='1' end='2' />",
    "<A a='&#65;&#x41;&#252;' time='1' end='2' />",
    "<A a='it is \"quoted\"' b=\"it's\" time='1' end='2' />",
    "<A name='ü' time='1' end='2' />",
    "<Ä time='1' end='2' />",
    "<A a='\xff' time='1' end='2' />",
    "<A a='\x01' time='1' end='2' />",
    "<A a='a\tb' time='1' end='2' />",
    "<A a='a\x7f' time='1' end='2' />",
    "<Event name='x' time='1' />",
    "<Event name='x' time='1' end='2' />",
    "<Event name='x' />",
    "<Nested><B time='1' end='2' /><Event name='e' time='1' /></Nested><A time='1' end='2' />",
    "<Nested> <B time='1' end='2' /> </Nested> <Nested><C time='1' end='2' /></Nested><A time='1' end='2' />",
    "<Nested><Nested><C time='1' end='2' /></Nested><B time='1' end='2' ><For /></B></Nested><A time='1' "
    "end='2' />",
    "<Nested/><A time='1' end='2' />",
    "<Nested a='1'><B time='1' end='2' /></Nested><A time='1' end='2' />",
    "<Nested></Nested><A time='1' end='2' />",
    "<Nested><B time='1' end='2' /></Nested>",
    "<Nested><Nested><B time='1' end='2' /></Nested></Nested><A time='1' end='2' />",
    "<A time='1' end='2' /><B time='1' end='2' />",
    "<A time='1' end='2' >text</A>",
    "<A time='1' end='2' > <For rid='1' /> </A>",
    "<A time='1' end='2' ><For rid='1' >x<More/></For></A>",
    "<A time='1' end='2' ><Nested/></A>",
    "<A time='1' end='2' /><!-- </Program> -->",
    "<!-- comment -->",
    "<!-- comment\n over lines --><A time='1' end='2' />",
    "<?pi?>",
    "<![CDATA[ ]]>",
    "<A time='1'\n end='2' >\n<For rid='1' />\n</A>",
    "<x:A time='1' end='2' y:b='1' />",
    "<A xmlns='urn:a' time='1' end='2' />",
    "<A xmlns:x='urn:a' x:b='1' time='1' end='2' />",
    "<A xml:lang='de' time='1' end='2' />",
    "<A a='1' a='2' time='1' end='2' />",
    "<A a='1' b='1' c='1' d='1' e='1' f='1' g='1' a='1' time='1' end='2' />",
    "<A time='1' time='1' end='2' />",
    "<A time='1' end='2' end='2' />",
    "<A a='1'b='2' time='1' end='2' />",
    "<A a=1 time='1' end='2' />",
    "<A a time='1' end='2' />",
    "<A a='<' time='1' end='2' />",
    "<A a='&' time='1' end='2' />",
    "<A a='&none;' time='1' end='2' />",
    "<A a='&#0;' time='1' end='2' />",
    "<A a='>' time='1' end='2' />",
    "<A a='' time='1' end='2' />",
    "<A time='1' end='2' ></B>",
    "<A time='1' end='2' ></AB>",
    "<A time='1' end='2' ><For rid='1' ></Fo></A>",
    "<A time='1' end='2' / >",
    "< A time='1' end='2' />",
    "<1 time='1' end='2' />",
    "<-A time='1' end='2' />",
    "<A time='1' end='2' />x",
    "text",
    "<A time='1' />",
    "<A end='2' />",
    "<A time='1,0' end='2' />",
    "<A time='1.' end='2' />",
    "<A time='.5' end='2' />",
    "<A time='-0.5' end='2' />",
    "<A time='--1' end='2' />",
    "<A time='1x' end='2' />",
    "<A time='' end='2' />",
    "<A time='0.1234567890' end='2' />",
    "<A time='9223372036' end='9223372037' />",
    "<A time='000000000000000000000001' end='2' />",
    "<A time='99999999999999999999' end='2' />",
    "</A>",
    "</Program>",
    "</Program><A time='1' end='2' />",
    "</Program><Program>",
    "<Program time='1' end='2' />",
    "<Program>",
    " ",
    "",
    "\x01",
    "<A",
};

// Whether libxml2 2.15 tells of a text behind which nothing follows depends on how much it was given at once.
bool is_told_by_chance(const std::string& line)
{
    return LIBXML_VERSION >= 21500 && line == "<![CDATA[ ]]>";
}

TEST(Lines, AreReadAsLibxml2ReadsThem)
{
    for (const std::string& line : lines) {
        expect_same("<Program timeAdjustment='10'>\n" + good + line + "\n" + good + "</Program>\n");
        if (is_told_by_chance(line))
            continue;
        expect_same("<?xml version='1.0' encoding='UTF-8'?>\n<Program rank='1'>\n" + line + "\n");
        expect_same("<Program>\n" + good + line);
    }
}

// With all digits of its times, as our writer writes it.
std::string with_digits(std::string line)
{
    for (const std::string time : {"time='1'", "end='2'"})
        for (std::size_t at = 0; (at = line.find(time, at)) != line.npos; at += time.size())
            line.insert(at + time.size() - 1, ".000000001");
    return line;
}

TEST(Lines, AreReadAsLibxml2ReadsThemWhenTheirFormIsKnown)
{
    for (const std::string& line : lines)
        expect_same("<Program timeAdjustment='10'>\n" + with_digits(line + "\n" + line + "\n" + good) +
                    "</Program>\n");
}

TEST(Lines, OfAKnownFormHaveAnyValues)
{
    const std::string values[] = {"",
                                  "0",
                                  "7",
                                  "-1",
                                  "-",
                                  "+1",
                                  "12",
                                  "1234567",
                                  "12345678",
                                  "123456789",
                                  "1a",
                                  "1234567a",
                                  "123456789012345678",
                                  "9223372036854775807",
                                  "9223372036854775808",
                                  "-9223372036854775808",
                                  "007",
                                  "0.5",
                                  "a<b",
                                  "a>b",
                                  "a&lt;b",
                                  "a&b",
                                  "\"",
                                  "a\tb",
                                  "a\x01",
                                  "\xc3\xbc",
                                  "MPI_SUM",
                                  "CREATE|WRONLY",
                                  "a text of many words, which is longer than sixteen bytes"};
    for (const std::string& value : values) {
        std::string text = "<Program>\n";
        for (const std::string& each : {std::string("1"), value, value})
            text += "<A a='" + each + "' b='" + each + "' time='1.000000000' end='2.000000000' ><For c='" +
                    each + "' /></A>\n";
        expect_same(text + "</Program>\n");
    }
}

TEST(Lines, OfAKnownFormHaveAnyTimes)
{
    for (const std::string time :
         {"1.123456789", "1.12345678", "1.1234567", "1.123456", "1.12345", "1", "1.", ".5", "-1.123456789",
          "1.12345678x", "1.x23456789", "1.1234567890", "x", "123456789.123456789", "1234567890.123456789",
          "9999999999.123456789", "99999999999.123456789", "", "1.123456789'"})
        for (const std::string end : {"2.000000000' />", "2.000000' />", "2.000000'/>", "2.0'/>"})
            expect_same("<Program timeAdjustment='10'>\n" + with_digits(good + good) + "<A time='" + time +
                        "' end='" + end + "\n<A time='1.000000' end='" + time + "' />\n<A time='" + time +
                        "' end='" + time + "'/>\n</Program>\n");
}

TEST(Lines, AreReadAsLibxml2ReadsThemAfterAnyBeginning)
{
    for (const std::string beginning :
         {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Program >\r\n", "\xef\xbb\xbf<Program>\n",
          "<!-- c -->\n<Program>\n", "\n<Program>\n", "<Program\n a='1'>\n", "<Program a='>'>\n",
          "<Program a='1'><B time='1' end='2' />\n", "<Program/>\n", "<Program a>\n", "<Program>text\n",
          "<Program xmlns='urn:a' xmlns:b='urn:b'>\n<b:A time='1' end='2' b:c='1' />\n",
          "<Program timeAdjustment='x'>\n", "<Program>\n<Program>\n", "<Program>\n\n\n",
          "<?xml version='1.0' encoding='UTF-8'?>\n", ""})
        expect_same(beginning + good + "</Program>\n");
    expect_same("<?xml version='1.0' encoding='ISO-8859-1'?>\n<Program>\n<A name='\xfc' time='1' end='2' "
                "/>\n</Program>\n");
}

TEST(Lines, AreReadAsLibxml2ReadsThemAtAnyEnd)
{
    for (const std::string end :
         {"</Program>", "</Program>\n\n \n", "</Program>\n\n<!-- c -->\n", "</Program>\n\ntext\n",
          "</Program>\ncut off", "</Program >\n", "<A time='1' end='2' /></Program>", "\n", "<A"})
        expect_same("<Program>\n" + good + end);
}

// The names of the line before are those that are expected.
TEST(Lines, AreReadAsLibxml2ReadsThemAfterAnyOtherLine)
{
    const std::string attributes[] = {
        "a='1'",
        "a='1' b='2'",
        "a='1' c='2'",
        "b='1' a='2'",
        "a='1' b='2' c='3'",
        "",
        "a = '1' b='2'",
        "a='1' b=\"2\" c='3'",
        "a='1&lt;' b='2' c='3'",
        "a='1' b='2&gt;' c='3'",
        "a='1' b='2' a='3'",
        "ab='1' b='2'",
        "a='1' ab='2'",
        "a='1' aNameThatIsLong='2' b='3'",
        "a='1' time='7' b='2'",
        "a='1' b='2",
        "a='1' b='",
    };
    for (const std::string& before : attributes)
        for (const std::string& after : attributes) {
            const std::string text = "<Program>\n<A " + before + " time='1' end='2' ><B " + before +
                                     " /></A>\n<A " + after + " time='1' end='2' ><B " + after + " /><B " +
                                     before + " /></A>\n" + good + "</Program>\n";
            expect_same(text);
            expect_same(with_digits(text));
        }
}

TEST(Lines, HaveTheirErrorsAtTheirPlaceInLargeTraces)
{
    std::string text = "<Program>\n";
    for (int line = 0; line < 70'000; ++line)
        text += good;
    for (const std::string line : {"<A time='1' end='2' ></B>\n", "</A>\n", "<A time='1' />\n", "text\n"})
        expect_same(text + line + "</Program>\n");
}

TEST(Lines, WithoutALineFeedAreNotOurs)
{
    detail::LineParser parser(0);
    State state;
    EXPECT_TRUE(parser.parse("<A time='1' end='2' />\n", 7, state));
    EXPECT_EQ(state.line, 7);
    EXPECT_FALSE(parser.parse("<A time='1' end='2' />", 7, state));
    EXPECT_FALSE(parser.parse("", 7, state));
}

TEST(Lines, ForgetTheLineBefore)
{
    detail::LineParser parser(0);
    State state;
    ASSERT_TRUE(parser.parse(
        "<Nested><Nested><C c='a long value that needs memory of its own' time='1' end='2' /></Nested>"
        "<B time='1' end='2' /></Nested><A a='1' b='2' time='1' end='2' ><D d='1' /><E /></A>\n",
        1, state));
    ASSERT_TRUE(parser.parse("<Event b='3' time='4' />\n", 2, state));
    State expected;
    static_cast<Element&>(expected) = {"Event", {{"b", "3"}}};
    expected.time = expected.end = 4'000'000'000;
    expected.line = 2;
    expected.is_event = true;
    EXPECT_EQ(state, expected);
    ASSERT_TRUE(
        parser.parse("<Nested><F time='1' end='2' /></Nested><A time='1' end='2' ><G /></A>\n", 3, state));
    EXPECT_EQ(state.nested.at(0).name, "F");
    EXPECT_TRUE(state.nested.at(0).nested.empty());
    EXPECT_EQ(state.children.at(0), (Element{"G", {}}));
}

// Lines at whose end seconds are counted.
std::string many_lines(int count)
{
    std::string text;
    for (int second = 0; second < count; ++second)
        text += "<A time='" + std::to_string(second) + ".0' end='" + std::to_string(second) + ".5' />\n";
    return text;
}

constexpr std::int64_t second = 1'000'000'000;

TEST(Seek, FindsTheFirstStateThatEndsThenOrLater)
{
    constexpr int count = 50'000;
    const TemporaryFile file("app_host_0_0.trc", "<Program version='1' timeAdjustment='100'>\n" +
                                                     many_lines(count) + "</Program>\n");
    for (const std::int64_t wanted : {-5, 0, 1, 2, 777, 1234, 25'000, count - 2, count - 1}) {
        for (const std::int64_t fraction : {0, 1, 2}) {
            TrcReader reader(file.path());
            reader.seek((100 + wanted) * second + fraction * second / 4);
            State state;
            ASSERT_TRUE(reader.next(state)) << wanted;
            EXPECT_EQ(state.time, (100 + std::max<std::int64_t>(wanted, 0)) * second) << wanted;
        }
    }
    TrcReader reader(file.path());
    reader.seek((100 + count) * second);
    State state;
    EXPECT_FALSE(reader.next(state));
    EXPECT_TRUE(reader.complete());
}

TEST(Seek, ReadsNothingOfWhatStandsBefore)
{
    const std::string broken = many_lines(10'000) + "<broken\n";
    std::string text = broken;
    for (int i = 0; i < 20'000; ++i)
        text += "<B time='" + std::to_string(20'000 + i) + "' end='" + std::to_string(20'001 + i) + "' />\n";
    text += "</Program>\n";
    State state;
    const TemporaryFile ours("app_host_0_0.trc", "<Program version='1'>\n" + text);
    TrcReader reader(ours.path());
    reader.seek(39'990 * second);
    ASSERT_TRUE(reader.next(state));
    EXPECT_EQ(state.time, 39'989 * second);

    const TemporaryFile other("app_host_0_0.trc", "<Program>\n" + text);
    TrcReader from_the_beginning(other.path());
    from_the_beginning.seek(39'990 * second);
    EXPECT_THROW(from_the_beginning.next(state), ReadError);
}

TEST(Seek, KnowsTheLinesOfErrorsOnly)
{
    const TemporaryFile file("app_host_0_0.trc",
                             "<Program version='1'>\n" + many_lines(20'000) + "<A time='1' />\n</Program>\n");
    TrcReader reader(file.path());
    reader.seek(19'999 * second);
    State state;
    ASSERT_TRUE(reader.next(state));
    EXPECT_EQ(state.line, 0);
    try {
        reader.next(state);
        FAIL();
    } catch (const ReadError& error) {
        EXPECT_EQ(error.line(), 20'002);
        EXPECT_EQ(error.reason(), "<A> has no attribute end");
    }
}

TEST(Seek, PassesLinesThatAreNotOurs)
{
    std::string text = "<Program version='1'>\n";
    for (int i = 0; i < 5'000; ++i)
        text += "<A name='ü' time='" + std::to_string(i) + "' end='" + std::to_string(i + 1) + "' />\n\n";
    const TemporaryFile file("app_host_0_0.trc", text);
    TrcReader reader(file.path());
    reader.seek(4'500 * second);
    State state;
    ASSERT_TRUE(reader.next(state));
    EXPECT_EQ(state.time, 4'499 * second);
    while (reader.next(state)) {
    }
    EXPECT_EQ(reader.missing(), "</Program>");
}

/// A trace in two segments, the first one with these lines, the second one with a single state at @p time.
std::string write_segments(const TemporaryFolder& folder, const std::string& lines, int time)
{
    const auto root = [](int number) {
        return "<Program version='1' timeAdjustment='0' segment='" + std::to_string(number) +
               "' before='0'>\n";
    };
    const std::string begin = std::to_string(time), end = std::to_string(time + 1);
    folder.write("app_host_0_0.trc.1",
                 root(1) + "<A time='" + begin + "' end='" + end + "' />\n</Program>\n");
    return folder.write("app_host_0_0.trc", root(0) + lines + "</Program>\n");
}

std::int64_t last_line(TrcReader& reader)
{
    State state;
    while (reader.next(state)) {
    }
    return state.line;
}

TEST(TrcReader, CountsLinesOfSegmentsThatAreNotOurs)
{
    std::string lines;
    for (int i = 0; i < 3'000; ++i)
        lines += "<A name='ü' time='" + std::to_string(i) + "' end='" + std::to_string(i + 1) + "' />\n";
    const TemporaryFolder folder;
    TrcReader reader(write_segments(folder, lines, 3'000));
    EXPECT_EQ(last_line(reader), 3'000 + 4);
}

TEST(Seek, LeavesLinesOfLaterSegmentsUnknown)
{
    constexpr int count = 20'000;
    const TemporaryFolder folder;
    const std::string path = write_segments(folder, many_lines(count), count);
    TrcReader from_the_beginning(path), from_the_middle(path);
    EXPECT_EQ(last_line(from_the_beginning), count + 4);
    from_the_middle.seek(count / 2 * second);
    EXPECT_EQ(last_line(from_the_middle), 0);
}

TEST(TrcReader, ReadsWhatCannotBeReadTwice)
{
    const TemporaryFolder folder;
    const std::string path = folder.path_of("app_host_0_0.trc");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const std::jthread writer(
        [&] { folder.write("app_host_0_0.trc", "<Program version='1'>\n" + many_lines(5'000) + "<A>\n"); });
    TrcReader reader(path, {.block_size = 4096, .keep_open = false});
    reader.seek(4'000 * second);
    State state;
    for (int i = 4'000; i < 5'000; ++i)
        ASSERT_TRUE(reader.next(state));
    EXPECT_THROW(reader.next(state), ReadError);
}

} // namespace
} // namespace hdtrace
