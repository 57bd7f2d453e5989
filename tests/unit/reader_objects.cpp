#include <gtest/gtest.h>

#include "hdtrace/format/objects.h"

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
