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
    EXPECT_FALSE(old.has("etid"));
    EXPECT_FALSE(old.has(""));
}

TEST(AttributeList, TellsLongNamesApart)
{
    const AttributeList list{{"targetCount1", "a"}, {"targetCount2", "b"}, {"", "c"}, {"12345678", "d"}};
    EXPECT_EQ(list.value("targetCount1"), "a");
    EXPECT_EQ(list.value("targetCount2"), "b");
    EXPECT_EQ(list.value(std::string_view("")), "c");
    EXPECT_EQ(list.value("12345678"), "d");
    EXPECT_FALSE(list.value("targetCount3"));
    EXPECT_FALSE(list.value("1234567"));
    // What the compiler and what the program makes of a name is the same.
    for (const Attribute& attribute : list)
        EXPECT_EQ(list.value(attribute.name), attribute.value);
    const AttributeName literals[] = {"rid", "size", "recvCount"};
    for (const AttributeName& literal : literals) {
        const std::string text(literal.text());
        EXPECT_EQ(AttributeName(text).key(), literal.key());
        EXPECT_EQ(AttributeName(text).bits(), literal.bits());
    }
}

TEST(AttributeList, KnowsNumbers)
{
    AttributeList list;
    for (const char* value : {"0", "-7", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                              "", "-", "+1", "1 ", "0x1", "123456789012345678", "000000000000000000000"})
        list.push_back("n", value);
    const std::vector<std::optional<std::int64_t>> expected = {
        0, -7, INT64_MAX, INT64_MIN, {}, {}, {}, {}, {}, {}, 123456789012345678, 0};
    for (std::size_t i = 0; i < list.size(); ++i)
        EXPECT_EQ(list.number(i), expected[i]) << list[i].value;
}

TEST(AttributeList, ChangesAndIsCopied)
{
    AttributeList list{{"a", "1"}, {"b", "2"}, {"c", "3"}};
    const AttributeList before = list;
    list.set_value(1, "20");
    EXPECT_EQ(list.integer("b"), 20);
    list.erase(0);
    EXPECT_EQ(list, (AttributeList{{"b", "20"}, {"c", "3"}}));
    EXPECT_FALSE(list.value("a"));
    EXPECT_EQ(before, (AttributeList{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
    list.clear();
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list.may_have(AttributeName("b").bits()));
}

// Of these some cannot be shared: too many, and too long names.
TEST(AttributeList, KeepsNamesThatNoOtherHas)
{
    AttributeList list{{"a", "1"}, {std::string(5000, 'n'), "2"}};
    for (int i = 0; i < 300; ++i)
        list.push_back("name" + std::to_string(i), std::to_string(i));
    const AttributeList copy = list;
    list.push_back("more", "7");
    EXPECT_EQ(list.size(), 303U);
    EXPECT_EQ(copy.size(), 302U);
    EXPECT_FALSE(copy.value("more"));
    EXPECT_EQ(list.integer("more"), 7);
    EXPECT_EQ(list.value(std::string(5000, 'n')), "2");
    EXPECT_EQ(copy.integer("name299"), 299);
    list.erase(1);
    EXPECT_FALSE(list.value(std::string(5000, 'n')));
    EXPECT_EQ(list[301], (Attribute{"more", "7"}));
    AttributeList moved = std::move(list);
    list = copy;
    EXPECT_EQ(moved[301].name, "more");
    EXPECT_EQ(list, copy);
}

TEST(AttributeList, SharesNames)
{
    const auto name_in = [](const AttributeList& list) { return list[1].name.data(); };
    const AttributeList list{{"a", "1"}, {"b", "2"}}, other{{"a", "3"}, {"b", "4"}, {"c", "5"}};
    const AttributeList same{{"a", "1"}, {"b", "2"}};
    EXPECT_EQ(name_in(list), name_in(same));
    EXPECT_EQ(other[1], (Attribute{"b", "4"}));
}

// What a foreign file can do to all others.
TEST(AttributeList, BoundsWhatIsShared)
{
    for (int i = 0; i < 100'000; ++i) {
        const std::string name = "bound" + std::to_string(i);
        const AttributeList list{{name, "1"}};
        ASSERT_EQ(list.integer(name), 1);
    }
    const AttributeList ours{{"a", "1"}, {"b", "2"}};
    EXPECT_EQ(ours.integer("b"), 2);
}

TEST(Element, PrefersTheVeryName)
{
    const Element element{"Scatter", {{"root", "1"}, {"rootRank", "2"}}};
    EXPECT_EQ(*element.find("root"), "1");
    EXPECT_EQ(*element.find("rootRank"), "2");
}

} // namespace
} // namespace hdtrace
