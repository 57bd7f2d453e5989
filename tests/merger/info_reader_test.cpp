#include "hdtrace/format/info.h"

#include "hdtrace/format/errors.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>

namespace hdtrace {
namespace {

/// A file with some text for the duration of a test.
class InfoFile {
  public:
    explicit InfoFile(const std::string& text)
        : m_path(testing::TempDir() + "info_reader_" + std::to_string(getpid()))
    {
        std::ofstream(m_path, std::ios::binary) << text;
    }
    ~InfoFile() { std::remove(m_path.c_str()); }
    const std::string& path() const { return m_path; }

  private:
    std::string m_path;
};

InfoLine line_of(const std::string& text)
{
    return InfoLine("x.info", 7, text);
}

TEST(InfoLine, HasKindAndValuesInOrder)
{
    const InfoLine line = line_of("File name=\"a b\" Size=0 id='2'");
    EXPECT_EQ(line.kind(), "File");
    ASSERT_EQ(line.fields().size(), 3U);
    EXPECT_EQ(line.fields()[0].key, "name");
    EXPECT_EQ(line.text("name"), "a b");
    EXPECT_EQ(line.integer("Size"), 0);
    EXPECT_EQ(line.integer("id"), 2);
    EXPECT_FALSE(line.has("uid"));
    EXPECT_EQ(line.text_or("uid", "none"), "none");
    EXPECT_EQ(line.optional_integer("size"), std::nullopt);
}

TEST(InfoLine, UndoesEscapes)
{
    const InfoLine line = line_of(R"(F a='\\\'\"\n\r\t\x41\xfF' b="it's" c='"' d='\q\x4')");
    EXPECT_EQ(line.text("a"), "\\'\"\n\r\tA\xff");
    EXPECT_EQ(line.text("b"), "it's");
    EXPECT_EQ(line.text("c"), "\"");
    EXPECT_EQ(line.text("d"), "\\q\\x4");
}

TEST(InfoLine, ReadsTimesExactly)
{
    const InfoLine line = line_of("F a=1.5 b=0.000000001 c=12 d=1240424724.123456789");
    EXPECT_EQ(line.optional_nanoseconds("a"), 1'500'000'000);
    EXPECT_EQ(line.optional_nanoseconds("b"), 1);
    EXPECT_EQ(line.optional_nanoseconds("c"), 12'000'000'000);
    EXPECT_EQ(line.optional_nanoseconds("d"), 1'240'424'724'123'456'789);
    EXPECT_EQ(line.optional_nanoseconds("e"), std::nullopt);
}

TEST(InfoLine, ErrorsNameThePlace)
{
    try {
        line_of("File name='/a' Size=x").integer("Size");
        FAIL();
    } catch (const ReadError& error) {
        EXPECT_STREQ(error.what(), "x.info:7:21: Size is not a number");
    }
    EXPECT_THROW(line_of("File name='/a").fields(), ReadError);
    EXPECT_THROW(line_of("File name='/a\\'").fields(), ReadError);
    EXPECT_THROW(line_of("File name").fields(), ReadError);
    EXPECT_THROW(line_of("File =1").fields(), ReadError);
}

TEST(InfoLine, OfAnUnknownKindNeedNotFollowTheGrammar)
{
    EXPECT_EQ(line_of("What 'is = this").kind(), "What");
}

TEST(InfoReader, CountsLinesAndSkipsEmptyOnes)
{
    const InfoFile file("A x=1\n\n  \t\nB x=2\r\nC x=3 \\\n  y=4\nD\n");
    InfoReader reader(file.path());
    InfoLine line;
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.number(), 1U);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.number(), 4U);
    EXPECT_EQ(line.integer("x"), 2);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.number(), 5U);
    EXPECT_EQ(line.integer("y"), 4);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.number(), 7U);
    EXPECT_FALSE(reader.next(line));
    EXPECT_EQ(reader.truncated_line(), 0U);
}

TEST(InfoReader, LeavesOutATruncatedLastLine)
{
    const InfoFile file("A x=1\nB x=2");
    InfoReader reader(file.path());
    InfoLine line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_FALSE(reader.next(line));
    EXPECT_EQ(reader.truncated_line(), 2U);
    EXPECT_FALSE(reader.next(line));
}

TEST(InfoReader, RefusesLinesBeyondTheLimit)
{
    const InfoFile file("A x=1\nB x=" + std::string(100'000, '1') + "\n");
    InfoReader reader(file.path(), 70'000);
    InfoLine line;
    EXPECT_TRUE(reader.next(line));
    try {
        reader.next(line);
        FAIL();
    } catch (const ReadError& error) {
        EXPECT_EQ(error.line(), 2);
    }
}

TEST(InfoReader, ReadsLongLines)
{
    const std::string value(1'000'000, 'x');
    const InfoFile file("A x='" + value + "'\n");
    InfoReader reader(file.path());
    InfoLine line;
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line.text("x"), value);
}

TEST(InfoReader, SaysWhyAFileCannotBeRead)
{
    EXPECT_THROW(InfoReader("/nonexistent.info"), OpenError);
    InfoReader directory("/");
    InfoLine line;
    EXPECT_THROW(directory.next(line), OpenError);
}

} // namespace
} // namespace hdtrace
