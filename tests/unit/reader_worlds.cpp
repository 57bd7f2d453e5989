// Projects of several worlds: where their traces are, and what ranks in them mean.
#include <gtest/gtest.h>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/project_ranks.h"
#include "hdtrace/format/traces.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::TemporaryFile;

const std::string worlds = R"(
    <World uid="W" first="0" size="2"><Files base="app" first="0" last="1"/></World>
    <World uid="W2" first="2" size="3"><Files base="a-world2" first="2" last="3"/><Files base="b-world2" first="4" last="4"/></World>
    <Foreign map="-9=0;-6..-5=0..1;" first="2" last="3"/>)";

Project read_text(const std::string& list)
{
    const TemporaryFile file("app.proj", R"(<Application name="app" processCount="5" version="1"><Topology>
      <Level name="Hostname"><Level name="Rank"><Level name="Thread"/></Level></Level>
      <Node name="n1"><Node name="1"><Node name="0"/></Node><Node name="2"><Node name="0"/></Node></Node>
      <Node name="n2"><Node name="4"><Node name="1"/></Node></Node></Topology><WorldList>)" +
                                             list + "</WorldList></Application>");
    return read_project(file.path());
}

std::string name_of(const TraceFile& trace)
{
    return trace.path.substr(trace.path.rfind('/') + 1);
}

TEST(Worlds, NamesOfTracesHaveTheRankInTheWorld)
{
    const std::vector<TraceFile> traces = traces_of(read_text(worlds));
    ASSERT_EQ(traces.size(), 3u);
    EXPECT_EQ(name_of(traces[0]), "app_n1_1_0.trc");
    EXPECT_EQ(name_of(traces[1]), "a-world2_n1_0_0.trc");
    EXPECT_EQ(traces[1].rank, 2);
    EXPECT_EQ(name_of(traces[2]), "b-world2_n2_2_1.trc");
    EXPECT_EQ(traces[2].rank, 4);
}

TEST(Worlds, RanksInTracesAreThoseOfTheWorld)
{
    const Project project = read_text(worlds);
    const ProjectRanks ranks(project, 3);
    const std::pair<std::int64_t, std::int64_t> expected[] = {{0, 2},
                                                              {2, 4},
                                                              {-1, -1},
                                                              {-2, -2},
                                                              {-3, -3},
                                                              {-4, -4},
                                                              {-5, 1},
                                                              {-6, 0},
                                                              {-7, -4},
                                                              {-9, 0},
                                                              {-10, -4},
                                                              {INT64_MIN, -4},
                                                              {INT64_MAX, INT64_MAX}};
    for (const auto& [in_trace, rank] : expected)
        EXPECT_EQ(ranks.rank(in_trace), rank) << in_trace;
    EXPECT_EQ(ProjectRanks(project, 0).rank(1), 1);
    EXPECT_EQ(ProjectRanks(project, 4).rank(-5), -4) << "of others the numbers mean something else";
}

State state(std::string name, AttributeList attributes, std::vector<Element> children = {})
{
    State made;
    made.name = std::move(name);
    made.attributes = std::move(attributes);
    made.children = std::move(children);
    return made;
}

TEST(Worlds, AllRanksOfACallAreTranslated)
{
    const Project project = read_text(worlds);
    const ProjectRanks ranks(project, 2);
    State call =
        state("Waitall", {{"count", "1"}}, {{"For", {{"rid", "3"}, {"fromRank", "-5"}, {"fromTag", "1"}}}});
    call.nested = {state("Send", {{"toRank", "-6"}, {"toTag", "0"}, {"cid", "0"}}),
                   state("Recv", {{"fromRank", "1"}, {"postedRank", "-1"}}),
                   state("Win_start", {{"ranks", "0;1..2;-4;"}}),
                   state("Group_incl", {{"ranks", "0;1;"}, {"group", "0..2;"}}),
                   state("Cart_coords", {{"rank", "1"}}),
                   state("Comm_rank", {{"rank", "1"}}),
                   state("Gatherv", {{"root", "0"}}, {{"Recv", {{"rank", "1"}, {"size", "1"}}}}),
                   state("MyOwn", {{"toRank", "1"}}, {{"x", {{"rank", "1"}}}})};
    ranks.translate(call);
    EXPECT_EQ(call.children[0], (Element{"For", {{"rid", "3"}, {"fromRank", "1"}, {"fromTag", "1"}}}));
    const auto value = [&](std::size_t nested, const char* name) { return *call.nested[nested].find(name); };
    EXPECT_EQ(value(0, "toRank"), "0");
    EXPECT_EQ(value(0, "toTag"), "0");
    EXPECT_EQ(value(1, "fromRank"), "3");
    EXPECT_EQ(value(1, "postedRank"), "-1");
    EXPECT_EQ(value(2, "ranks"), "2;3..4;-4;");
    EXPECT_EQ(value(3, "ranks"), "0;1;") << "they count in the group";
    EXPECT_EQ(value(3, "group"), "2..4;");
    EXPECT_EQ(value(4, "rank"), "1") << "it counts in the topology";
    EXPECT_EQ(value(5, "rank"), "1") << "it counts in the communicator";
    EXPECT_EQ(value(6, "root"), "2");
    EXPECT_EQ(*call.nested[6].children[0].find("rank"), "3");
    EXPECT_EQ(value(7, "toRank"), "1") << "it is no call of MPI";
    EXPECT_EQ(*call.nested[7].children[0].find("rank"), "1");
}

TEST(Worlds, WhatDoesNotFitIsAnError)
{
    for (const char* list :
         {R"(<World uid="W" first="2" size="2"/><World uid="V" first="3" size="2"/>)",
          R"(<World uid="W" first="0" size="-2"/>)", R"(<World uid="W" size="2"/>)",
          R"(<World uid="W" first="9223372036854775807" size="2"/>)",
          R"(<World uid="W" first="0" size="1"><Files base="../x" first="0" last="1"/></World>)",
          R"(<Foreign map="-6..-5=0;" first="0" last="0"/>)",
          R"(<Foreign map="-5=0;-6=1;" first="0" last="0"/>)",
          R"(<Foreign map="-5..5=0..10;" first="0" last="0"/>)",
          R"(<Foreign map="-5=-1;" first="0" last="0"/>)", R"(<Foreign map="-5" first="0" last="0"/>)",
          R"(<Foreign map="-9223372036854775808..-1=0..9223372036854775807;" first="0" last="0"/>)"})
        EXPECT_THROW(read_text(list), ReadError) << list;
}

} // namespace
} // namespace hdtrace
