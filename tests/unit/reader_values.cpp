// Times, and attributes under their several names.
#include <gtest/gtest.h>

#include "hdtrace/format/element.h"
#include "hdtrace/format/nanoseconds.h"

namespace hdtrace {
namespace {

TEST(ParseTime, IsExact)
{
    EXPECT_EQ(parse_time("0"), 0);
    EXPECT_EQ(parse_time("0.000000001"), 1);
    EXPECT_EQ(parse_time("1.5"), 1'500'000'000);
    EXPECT_EQ(parse_time("1240424724.531647"), 1'240'424'724'531'647'000);
    EXPECT_EQ(parse_time("1240424724.123456789"), 1'240'424'724'123'456'789);
    EXPECT_EQ(parse_time("-0.25"), -250'000'000);
    EXPECT_EQ(parse_time("9223372036.854775807"), INT64_MAX);
}

TEST(ParseTime, RefusesAllElse)
{
    for (const char* text :
         {"", "-", ".", "1.", ".5", "+1", "1,5", " 1", "1 ", "1e3", "0x1", "1.0000000001", "1.5s",
          "9223372036.854775808", "9223372037", "99999999999999999999", "--1", "1.-5", "nan"})
        EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

TEST(Element, FindsOtherSpellings)
{
    const Element old{"File_write",
                      {{"file", "2"}, {"aid", "3"}, {"type", "4"}, {"comm", "5"}, {"root", "6"}}};
    EXPECT_EQ(*old.find("fid"), "2");
    EXPECT_EQ(*old.find("rid"), "3");
    EXPECT_EQ(*old.find("tid"), "4");
    EXPECT_EQ(*old.find("cid"), "5");
    EXPECT_EQ(*old.find("rootRank"), "6");
    EXPECT_EQ(*old.find("file"), "2");
    EXPECT_EQ(old.find("etid"), nullptr);
    EXPECT_EQ(old.find(""), nullptr);
}

TEST(Element, PrefersTheVeryName)
{
    const Element element{"Scatter", {{"root", "1"}, {"rootRank", "2"}}};
    EXPECT_EQ(*element.find("root"), "1");
    EXPECT_EQ(*element.find("rootRank"), "2");
}

} // namespace
} // namespace hdtrace
