#include <gtest/gtest.h>

#include "hdtrace/format/blocks.h"
#include "hdtrace/format/number_runs.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {
namespace {

/// Its numbers; empty if something else is in it.
std::vector<std::int64_t> numbers_of(std::string_view list)
{
    std::vector<std::int64_t> numbers;
    while (!list.empty()) {
        const auto run = take_run(list);
        if (!run)
            return {};
        for (std::int64_t i = 0; i < run->count; ++i)
            numbers.push_back(run->at(i));
    }
    return numbers;
}

TEST(NumberRuns, AreReadAndWritten)
{
    EXPECT_EQ(numbers_of("4;-3;5+0*2;1+2*3;0-8*3;-9223372036854775808+1*2;"),
              (std::vector<std::int64_t>{4, -3, 5, 5, 1, 3, 5, 0, -8, -16, INT64_MIN, INT64_MIN + 1}));
    for (const std::string_view text : {"4;", "-3;", "5+0*2;", "1+2*1000000;", "0-8*3;"}) {
        std::string_view rest = text;
        std::string written;
        append_run(written, take_run(rest).value());
        EXPECT_EQ(written, text);
    }
}

TEST(NumberRuns, AreRefusedIfTheyAreNone)
{
    for (const std::string_view list :
         {"4", "4+;", "4+1;", "4+1*;", "4*3;", "4+1*0;", "4+1*-1;", "4+-1*3;", "4--1*3;", "+4;", ";", "x;",
          "9223372036854775808;", "9223372036854775807+1*2;", "0+4611686018427387904*3;",
          "0+0*2000000000000;"})
        EXPECT_EQ(numbers_of(list), std::vector<std::int64_t>{}) << list;
}

/// An indexed type with id 1, of ints.
Project project_with(const std::string& combiner, const AttributeList& attributes, std::vector<Element> rows)
{
    AttributeList all = {{"id", "1"}, {"oldType", "0"}, {"extent", "4000"}};
    for (const Attribute attribute : attributes)
        all.push_back(attribute.name, attribute.value);
    Project project;
    project.datatypes = {{0,
                          0,
                          {{0, "NAMED", {{"name", "MPI_INT"}, {"size", "4"}, {"extent", "4"}}, {}},
                           {1, combiner, all, std::move(rows)}}}};
    return project;
}

std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(const Project& project)
{
    const ObjectTable objects(project);
    TypeMaps maps(objects);
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    maps.find(0, 1)->map->visit_pieces(0, 0, [&](std::int64_t begin, std::int64_t end) {
        if (begin < end)
            pieces.emplace_back(begin, end);
        return true;
    });
    return pieces;
}

TEST(TypeMaps, AreFoundHoweverManyOthersCannotBe)
{
    const Project project = project_with("VECTOR", {}, {});
    const ObjectTable objects(project);
    TypeMaps maps(objects);
    for (int i = 0; i < 2000; ++i)
        ASSERT_EQ(maps.find_possible(0, 1), nullptr);
    EXPECT_NE(maps.find(0, 0), nullptr);
}

TEST(Blocks, OfAListAreThoseOfSingleRows)
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> expected = {{0, 4},     {8, 12},    {16, 20},
                                                                         {400, 404}, {440, 448}, {480, 492}};
    const Project single = project_with("INDEXED", {},
                                        {{"BLOCK", {{"len", "1"}, {"index", "0"}}},
                                         {"BLOCK", {{"len", "1"}, {"index", "2"}}},
                                         {"BLOCK", {{"len", "1"}, {"index", "4"}}},
                                         {"BLOCK", {{"len", "1"}, {"index", "100"}}},
                                         {"BLOCK", {{"len", "2"}, {"index", "110"}}},
                                         {"BLOCK", {{"len", "3"}, {"index", "120"}}}});
    const Project lists = project_with("INDEXED", {},
                                       {{"Blocks", {{"len", "1+0*3;1;"}, {"index", "0+2*3;100;"}}},
                                        {"Blocks", {{"len", "2+1*2;"}, {"index", "110;120;"}}}});
    EXPECT_EQ(pieces_of(single), expected);
    EXPECT_EQ(pieces_of(lists), expected);
}

TEST(Blocks, CountInBytesOrInTheOldType)
{
    const std::vector<Element> rows = {{"Blocks", {{"displacement", "0+8*3;"}}}};
    EXPECT_EQ(pieces_of(project_with("HINDEXED_BLOCK", {{"blockLength", "1"}}, rows)),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {8, 12}, {16, 20}}));
    EXPECT_EQ(pieces_of(project_with("INDEXED_BLOCK", {{"blockLength", "2"}}, rows)),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 8}, {32, 40}, {64, 72}}));
}

/// As many as there are; unknown if it is not read to its end.
std::optional<std::int64_t> count_blocks(const std::string& combiner, const AttributeList& attributes,
                                         const AttributeList& row)
{
    std::int64_t count = 0;
    const bool is_read =
        for_each_blocks({1, combiner, attributes, {{"Blocks", row}}}, [&](const Blocks& blocks) {
            count += blocks.count;
            return true;
        });
    return is_read ? std::optional(count) : std::nullopt;
}

TEST(Blocks, AreMillionsInOneVisit)
{
    int visits = 0;
    EXPECT_TRUE(for_each_blocks(
        {1, "HINDEXED", {}, {{"Blocks", {{"len", "2+0*1000000000;"}, {"index", "0+8*1000000000;"}}}}},
        [&](const Blocks& blocks) {
            ++visits;
            EXPECT_EQ(blocks.count, 1'000'000'000);
            return true;
        }));
    EXPECT_EQ(visits, 1);
}

TEST(Blocks, AreRefusedWhereListsDoNotFit)
{
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "1;2;"}, {"index", "0;4;"}}), 2);
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "1;"}, {"index", "0;4;"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "1;2;"}, {"index", "0;"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "1;x;"}, {"index", "0;4;"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "1;2;"}, {"index", "0;4"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"index", "0;4;"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED_BLOCK", {{"blockLength", "1"}}, {{"displacement", "0;4+1*7;"}}), 8);
    EXPECT_EQ(count_blocks("INDEXED_BLOCK", {}, {{"displacement", "0;4;"}}), std::nullopt);
    EXPECT_EQ(count_blocks("INDEXED_BLOCK", {{"blockLength", "1"}}, {{"displacement", "x"}}), std::nullopt);
}

TEST(Blocks, OfEndlesslyManyLengthsAreRefused)
{
    EXPECT_EQ(count_blocks("INDEXED", {}, {{"len", "0+1*100000000000;"}, {"index", "0+0*100000000000;"}}),
              std::nullopt);
}

} // namespace
} // namespace hdtrace
