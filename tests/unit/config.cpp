// Numbers, names and files of settings and rules.
#include "hdtrace/settings/config.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace hdtrace::test {
namespace {

Word word(const char* text)
{
    return {text, std::string(text).size()};
}

std::vector<int> chosen(const char* text)
{
    Ranges ranges;
    EXPECT_TRUE(ranges.parse(text, parse_digits)) << text;
    std::vector<int> numbers;
    for (int i = 0; i < 12; ++i) {
        if (ranges.contains(i))
            numbers.push_back(i);
    }
    return numbers;
}

TEST(Ranges, AreChosenByTriplets)
{
    EXPECT_EQ(chosen("3"), std::vector({3}));
    EXPECT_EQ(chosen("0:10:5"), std::vector({0, 5, 10}));
    EXPECT_EQ(chosen("9:"), std::vector({9, 10, 11}));
    EXPECT_EQ(chosen(":1, 4:5"), std::vector({0, 1, 4, 5}));
    EXPECT_EQ(chosen("1::4"), std::vector({1, 5, 9}));
}

TEST(Ranges, AreNothingElse)
{
    Ranges ranges;
    for (const char* wrong : {"", ":", "1,", ",1", "a", "5:3", "1:2:0", "1:2:3:4", "-1", "1 2", "1:2x",
                              "99999999999999999999", "1,2,3,4,5,6,7,8,9"})
        EXPECT_FALSE(ranges.parse(wrong, parse_digits)) << wrong;
}

TEST(Ranges, HaveUnits)
{
    Ranges ranges;
    EXPECT_TRUE(ranges.parse("1K:1M", parse_size));
    EXPECT_FALSE(ranges.contains(1023));
    EXPECT_TRUE(ranges.contains(1024) && ranges.contains(1 << 20));
    EXPECT_TRUE(ranges.parse("5ms:2s", parse_duration));
    EXPECT_TRUE(ranges.contains(2'000'000'000));
    EXPECT_FALSE(ranges.contains(4'999'999));
}

TEST(Patterns, Fit)
{
    EXPECT_TRUE(fits(word("*"), "") && fits(word("a*c"), "abbc") && fits(word("a?c*"), "abc"));
    EXPECT_TRUE(fits(word("*ab*ab"), "xababab"));
    EXPECT_FALSE(fits(word("a"), "A") || fits(word("a?"), "a") || fits(word("*b"), "abc"));
    EXPECT_TRUE(fits_function(word("isend"), "MPI_Isend") && fits_function(word("MPI_*"), "MPI_Isend"));
    EXPECT_FALSE(fits_function(word("send"), "MPI_Isend"));
    EXPECT_TRUE(fits_one("a, b*", "bc"));
    EXPECT_FALSE(fits_one("", "a"));
    EXPECT_TRUE(fits_one_name("a , time step ,b", "time step"));
    EXPECT_FALSE(fits_one_name("time step, ", "time") || fits_one_name(" , ", "") || fits_one_name("", ""));
}

struct ReadFile {
    explicit ReadFile(const std::string& content) : text(content)
    {
        rules.resize(count_rules(content.c_str()));
        text.resize(2 * (content.size() + 1));
        Config config = {settings, rules, functions, report, this};
        is_right = read_config(config, text.data(), content.size());
        rules.resize(config.rule_count);
    }
    static void report(void* object, const ConfigProblem& problem)
    {
        static_cast<ReadFile*>(object)->lines.push_back(problem.line);
    }

    static constexpr RuledFunction functions[] = {{"MPI_Send", "point-to-point"}, {"MPI_New", nullptr}};
    std::string text;
    Settings settings;
    std::vector<Rule> rules;
    std::vector<int> lines;
    bool is_right = false;
};

TEST(Config, HasSettingsAndRules)
{
    const ReadFile file(
        "nested=1\r\n# nested = 0\nnote = a=b#c # d\nnote=e=f\n[rule]\ncall=send,New\nrecord=none\n"
        "[rule]\nrank=2:\nrecord=success");
    EXPECT_TRUE(file.is_right);
    EXPECT_TRUE(file.settings.nested);
    EXPECT_STREQ(file.settings.note, "a=b#c\ne=f");
    ASSERT_EQ(file.rules.size(), 2);
    EXPECT_EQ(file.rules[1].line, 8);
    EXPECT_EQ(file.rules[1].record, Record::success);
    EXPECT_TRUE(file.rules[0].is_about(file.functions[0]) && file.rules[1].is_for_process(3, "h"));
    EXPECT_FALSE(file.rules[1].is_for_process(1, "h"));
}

TEST(Config, RulesWithMistakesDoNotHold)
{
    const ReadFile file("[rule]\ncall=Send\nsize=x\nrecord=none\n[rule]\nrecord=all\n[rule]\ncall=Send\n");
    EXPECT_FALSE(file.is_right);
    EXPECT_EQ(file.lines, std::vector({3, 8}));
    ASSERT_EQ(file.rules.size(), 1);
    EXPECT_EQ(file.rules[0].record, Record::all);
}

TEST(Config, AnythingCanStandInTheFile)
{
    unsigned state = 1;
    const std::string letters = "[rule]\n=#record none size:1K*call ,\t\r\"note\\";
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (int j = 0; j < 60; ++j)
            text += letters[(state = state * 1103515245 + 12345) / 65536 % letters.size()];
        ReadFile file(text);
    }
    EXPECT_FALSE(ReadFile(std::string("nested=1\0\n", 10)).is_right);
}

} // namespace
} // namespace hdtrace::test
