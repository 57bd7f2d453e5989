#include <gtest/gtest.h>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/rank_table.h"

namespace hdtrace {
namespace {

Project project_of_two()
{
    Project project;
    project.communicators = {{"WORLD", "W", {{0, 0, 0, {}}, {1, 1, 3, {}}}},
                             {"half", "W/1@0", {{0, 0, 1, {}}, {1, 1, {}, {}}}}};
    project.files = {{"/data", {}, {}, {}, {}, {{0, 0, 5}, {1, 0, 0}}}};
    project.windows = {{"box", "W/w1", "W", {{0, 0, 2, {}, {}}}}};
    project.datatypes = {{0, 0, {{7, "NAMED", {}, {}}}}, {1, 0, {{7, "VECTOR", {}, {}}}}};
    return project;
}

TEST(ObjectTable, FindsObjectsByTheIdsOfAProcess)
{
    const Project project = project_of_two();
    const ObjectTable objects(project);
    EXPECT_EQ(objects.communicator(0, 0), &project.communicators[0]);
    EXPECT_EQ(objects.communicator(1, 3), &project.communicators[0]);
    EXPECT_EQ(objects.communicator(0, 1), &project.communicators[1]);
    EXPECT_EQ(objects.communicator(1, 0), nullptr);
    EXPECT_EQ(objects.file(0, 5), &project.files[0]);
    EXPECT_EQ(objects.file(1, 0), &project.files[0]);
    EXPECT_EQ(objects.file(0, 0), nullptr);
    EXPECT_EQ(objects.window(0, 2), &project.windows[0]);
    EXPECT_EQ(objects.window(1, 2), nullptr);
    EXPECT_EQ(objects.datatype(0, 7)->combiner, "NAMED");
    EXPECT_EQ(objects.datatype(1, 7)->combiner, "VECTOR");
    EXPECT_EQ(objects.datatype(2, 7), nullptr);
}

/// As of a part of a large run, and of files that say anything.
TEST(ObjectTable, FindsObjectsOfRanksFarFromEachOther)
{
    for (const std::int64_t far : {std::int64_t{3}, std::int64_t{1} << 20, INT64_MAX, INT64_MIN}) {
        Project project;
        project.datatypes = {{far, 0, {{7, "VECTOR", {}, {}}, {-9, "DUP", {}, {}}}},
                             {0, 0, {{7, "NAMED", {}, {}}, {7, "DUP", {}, {}}}}};
        const ObjectTable objects(project);
        EXPECT_EQ(objects.datatype(far, 7)->combiner, "VECTOR");
        EXPECT_EQ(objects.datatype(far, -9)->combiner, "DUP");
        EXPECT_EQ(objects.datatype(0, 7)->combiner, "NAMED") << "the first of two";
        for (const std::int64_t other :
             {far > 0 ? far - 1 : far + 1, std::int64_t{2}, std::int64_t{-1}, std::int64_t{1} << 40})
            EXPECT_EQ(objects.datatype(other, 7), nullptr) << other;
        EXPECT_EQ(objects.datatype(0, 6), nullptr);
        EXPECT_EQ(objects.datatype(0, 8), nullptr);
    }
}

TEST(RankTable, HasWhatWasAskedForByAnyRank)
{
    RankTable<std::string> table;
    const RankTable<std::string>& as_const = table;
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(0), nullptr);
    for (const std::int64_t rank : {std::int64_t{5}, std::int64_t{-1}, INT64_MAX, std::int64_t{0}})
        table[rank] = std::to_string(rank);
    std::string* const five = table.find(5);
    table[1000] = "1000";
    EXPECT_EQ(as_const.find(5), five) << "references stay valid";
    EXPECT_EQ(table.size(), 5u);
    EXPECT_EQ(as_const.find(4), nullptr);
    EXPECT_EQ(as_const.find(-2), nullptr);
    std::vector<std::string> all;
    as_const.for_each([&](std::int64_t rank, const std::string& value) {
        EXPECT_EQ(value, std::to_string(rank));
        all.push_back(value);
    });
    EXPECT_EQ(all, (std::vector<std::string>{"0", "5", "1000", "-1", "9223372036854775807"}));
    table.clear();
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(5), nullptr);
}

TEST(ObjectTable, FindsWhatACallNames)
{
    const Project project = project_of_two();
    const ObjectTable objects(project);
    const Element call{
        "Test", {{"file", "5"}, {"comm", "1"}, {"tid", "7"}, {"etid", "x"}, {"newcid", "0"}, {"wid", "2"}}};
    EXPECT_EQ(objects.file(0, call), &project.files[0]);
    EXPECT_EQ(objects.communicator(0, call), &project.communicators[1]);
    EXPECT_EQ(objects.communicator(0, call, "newcid"), &project.communicators[0]);
    EXPECT_EQ(objects.window(0, call), &project.windows[0]);
    EXPECT_EQ(objects.datatype(0, call), &project.datatypes[0].types[0]);
    EXPECT_EQ(objects.datatype(0, call, "etid"), nullptr);
    EXPECT_EQ(objects.datatype(0, call, "filetid"), nullptr);
}

TEST(ObjectTable, FindsCallSitesByTheirNumbersInAProcess)
{
    Project project;
    project.call_sites.resize(5);
    project.site_ids = {{{{0, 2, 2}, {7, 0, 1}}, {{4, 6}, {0, 1}}}, {{{1, 4, 1}}, {{3, 3}}}};
    const ObjectTable objects(project);
    for (const std::int64_t rank : {0, 1, 4, 5, 6}) {
        EXPECT_EQ(objects.call_site(rank, 0), &project.call_sites[2]);
        EXPECT_EQ(objects.call_site(rank, 1), &project.call_sites[3]);
        EXPECT_EQ(objects.call_site(rank, 7), &project.call_sites[0]);
        for (const std::int64_t unknown : {-1, 2, 6, 8})
            EXPECT_EQ(objects.call_site(rank, unknown), nullptr);
    }
    EXPECT_EQ(objects.call_site(3, 1), &project.call_sites[4]);
    EXPECT_EQ(objects.call_site(3, 0), nullptr);
    for (const std::int64_t rank : {-1, 2, 7})
        EXPECT_EQ(objects.call_site(rank, 0), nullptr);
    EXPECT_EQ(objects.call_site(0, Element{"Send", {{"site", "7"}}}), &project.call_sites[0]);
    EXPECT_EQ(objects.call_site(0, Element{"Send", {{"site", "x"}}}), nullptr);
    EXPECT_EQ(objects.call_site(0, Element{"Send", {}}), nullptr);
}

} // namespace
} // namespace hdtrace
