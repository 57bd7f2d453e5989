#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/matching/collectives.h"

using namespace std::string_literals;

namespace hdtrace {
namespace {

Project two_processes()
{
    Project project;
    project.communicators = {{"WORLD", "W", {{0, 0, 0, {}}, {1, 1, 0, {}}}}};
    project.files.resize(3); // the last two are on disks of two hosts
    project.files[0].ranks = {{0, 0, 5}, {1, 0, 5}};
    project.files[1].ranks = {{0, 0, 6}};
    project.files[2].ranks = {{1, 0, 6}};
    project.windows = {{"box", "W/w0", "W", {{0, 0, 7, 8, 1}, {1, 1, 7, 8, 1}}}};
    return project;
}

struct OneCall {
    std::int64_t rank;
    State state;
};

State on_world(std::string name)
{
    State state;
    state.name = std::move(name);
    state.attributes = {{"cid", "0"}};
    return state;
}

State on_object(std::string name)
{
    State state = on_world(std::move(name));
    state.attributes.push_back("fid", "5");
    state.attributes.push_back("wid", "7");
    return state;
}

State failed(std::string name, const char* error = "MPI_ERR_OTHER")
{
    State state = on_world(std::move(name));
    state.attributes.push_back("rc", error);
    return state;
}

State around(std::string name, State inner)
{
    State state = on_world(std::move(name));
    state.nested = {std::move(inner)};
    return state;
}

using Found = std::vector<std::string>;

// What belongs together, e.g. "0: Bcast Bcast".
std::vector<std::string> match(std::initializer_list<OneCall> calls, bool follows_objects = false,
                               bool follows_starts = false)
{
    const Project project = two_processes();
    const ObjectTable objects(project);
    std::vector<std::string> found;
    CollectiveMatcher matcher(objects, [&](const Collective& collective) {
        std::string text = std::to_string(collective.number) + (collective.file ? " file" : "") +
                           (collective.window ? " window" : "") +
                           (collective.prepared >= 0 ? " start " + std::to_string(collective.prepared) : "") +
                           ":";
        for (const CollectiveCall& call : collective.calls)
            text += " " + call.name;
        found.push_back(text);
    });
    if (follows_objects)
        matcher.follow_objects();
    if (follows_starts)
        matcher.follow_starts();
    EventWalk walk({&matcher});
    for (const OneCall& call : calls)
        walk.add({"", call.rank, 0, {}}, call.state);
    matcher.finish();
    return found;
}

// The times at which they began, of a run in which first calls of process 0 were given up.
Found match_ends(std::initializer_list<OneCall> calls)
{
    Project project = two_processes();
    project.run.facts = {{{"Bound", {{"name", "keep-last"}, {"value", "2M"}}}, {{0, 0}}}};
    const ObjectTable objects(project);
    Found found;
    CollectiveMatcher matcher(objects, [&](const Collective& collective) {
        std::string text = std::to_string(collective.number) + ":";
        for (const CollectiveCall& call : collective.calls)
            text += " " + std::to_string(call.start);
        found.push_back(text);
    });
    EventWalk walk({&matcher});
    std::int64_t time = 0;
    for (OneCall call : calls) {
        call.state.time = call.state.end = ++time;
        walk.add({"", call.rank, 0, {}}, call.state);
    }
    matcher.finish();
    return found;
}

TEST(CollectiveMatcher, CountsFromTheEndWhereFirstCallsAreMissing)
{
    const OneCall first = {1, on_world("Bcast")}, of_cut = {0, on_world("Bcast")};
    EXPECT_EQ(match_ends({first,
                          first,
                          of_cut,
                          {0, on_world("Barrier")},
                          {1, on_world("Barrier")},
                          {0, on_world("Finalize")},
                          {1, on_world("Finalize")}}),
              (Found{"-1: 1", "0: 2 3", "1: 4 5"}));
    EXPECT_EQ(match_ends({first, first, of_cut, {0, on_world("Finalize")}}),
              (Found{"-1: 3", "-1: 1", "-1: 2"}))
        << "the last one of process 1 may be missing";
    EXPECT_EQ(
        match_ends(
            {first, of_cut, {0, on_world("Barrier")}, {0, on_world("Finalize")}, {1, on_world("Finalize")}}),
        (Found{"-1: 2", "-1: 3", "-1: 1"}))
        << "a program that is wrong";
}

TEST(CollectiveMatcher, PutsTheCallsOfAllMembersTogether)
{
    EXPECT_EQ(match({{0, on_world("Bcast")}, {0, on_world("Ibarrier")}, {1, on_world("Bcast")}}),
              (Found{"0: Bcast Bcast", "1: Ibarrier"}));
}

TEST(CollectiveMatcher, KnowsAllThatMakesAndFreesObjectsTogether)
{
    for (const char* name :
         {"Comm_dup", "Intercomm_create", "Comm_disconnect", "Comm_spawn", "Comm_spawn_multiple",
          "Comm_accept", "Comm_connect", "Cart_sub", "File_open", "Win_allocate_shared", "Comm_set_info"})
        EXPECT_EQ(match({{0, on_world(name)}, {1, on_world(name)}}),
                  (Found{std::string("0: ") + name + " " + name}));
}

TEST(CollectiveMatcher, LeavesOutWhatIsNotOfAllMembers)
{
    for (const char* name :
         {"Comm_create_group", "Op_create", "Reduce_local", "Comm_rank", "Send", "Put", "Comm_get_parent"})
        EXPECT_EQ(match({{0, on_world(name)}}), Found{}) << name;
    EXPECT_EQ(match({{0, failed("Bcast")}}), Found{});
}

TEST(CollectiveMatcher, CountsCallsThatFailedLikeTheOthers)
{
    EXPECT_EQ(match({{0, failed("Bcast")},
                     {0, on_world("Barrier")},
                     {1, on_world("Bcast")},
                     {1, on_world("Barrier")}}),
              (Found{"0: Bcast Bcast", "1: Barrier Barrier"}))
        << "it failed on one side only, such as by a buffer that is too small";
    EXPECT_EQ(match({{0, failed("Bcast")},
                     {0, on_world("Barrier")},
                     {0, on_world("Scan")},
                     {1, on_world("Barrier")},
                     {1, on_world("Scan")}}),
              (Found{"0: Barrier Barrier", "1: Scan Scan"}))
        << "it failed before it reached the others";
    EXPECT_EQ(match({{0, failed("Bcast")}, {0, on_world("Bcast")}, {1, on_world("Bcast")}}),
              (Found{"0: Bcast Bcast"}))
        << "the second try is not one that the other did not call";
    EXPECT_EQ(
        match({{0, failed("Bcast")}, {0, on_world("Bcast")}, {0, on_world("Bcast")}, {1, on_world("Bcast")}}),
        (Found{"0: Bcast Bcast", "1: Bcast"}));
}

TEST(CollectiveMatcher, DoesNotCountCallsOfWhichAnArgumentWasWrong)
{
    EXPECT_EQ(match({{0, failed("Reduce", "MPI_ERR_ARG")},
                     {0, on_world("Reduce")},
                     {0, on_world("Scan")},
                     {1, on_world("Reduce")},
                     {1, on_world("Scan")}}),
              (Found{"0: Reduce Reduce", "1: Scan Scan"}))
        << "the second try is the one that the others take part in";
}

State prepares(std::string name, const char* rid)
{
    State state = on_world(std::move(name));
    state.attributes.push_back("rid", rid);
    return state;
}

State starts(const char* prepared, const char* rid)
{
    State state;
    state.name = "Start";
    state.attributes = {{"initRid", prepared}, {"rid", rid}};
    return state;
}

// The first process starts the sum twice before the other one does, which starts the broadcast first.
TEST(CollectiveMatcher, FollowsStartsOfWhatWasPreparedIfItIsAskedFor)
{
    const std::initializer_list<OneCall> calls = {{0, prepares("Allreduce_init", "1")},
                                                  {0, prepares("Bcast_init", "2")},
                                                  {1, prepares("Allreduce_init", "7")},
                                                  {1, prepares("Bcast_init", "8")},
                                                  {0, starts("1", "3")},
                                                  {0, starts("1", "4")},
                                                  {0, starts("2", "5")},
                                                  {1, starts("8", "9")},
                                                  {1, starts("7", "10")},
                                                  {0, starts("2", "6")}};
    const std::vector<std::string> prepared = {"0: Allreduce_init Allreduce_init",
                                               "1: Bcast_init Bcast_init"};
    EXPECT_EQ(match(calls), prepared);
    EXPECT_EQ(match(calls, false, true),
              std::vector({prepared[0], prepared[1], "0 start 1: Bcast_init Bcast_init"s,
                           "0 start 0: Allreduce_init Allreduce_init"s, "1 start 0: Allreduce_init"s,
                           "0 start 1: Bcast_init"s}));
}

TEST(CollectiveMatcher, SeesCallsInStatesOfTheProgramAndNotInsideCalls)
{
    EXPECT_EQ(match({{0, around("Step", on_world("Bcast"))}, {1, on_world("Bcast")}}),
              (Found{"0: Bcast Bcast"}));
    EXPECT_EQ(match({{0, around("Send", on_world("Bcast"))}}), Found{});
}

TEST(CollectiveMatcher, FollowsFilesAndWindowsIfItIsAskedFor)
{
    const std::initializer_list<OneCall> calls = {
        {0, on_object("File_open")},      {1, on_object("File_open")},  {0, on_object("Win_create")},
        {1, on_object("Win_create")},     {0, on_object("Win_fence")},  {0, on_object("File_write_all")},
        {1, on_object("File_write_all")}, {1, on_object("File_close")},
    };
    EXPECT_EQ(match(calls), (Found{"0: File_open File_open", "1: Win_create Win_create"}));
    EXPECT_EQ(match(calls, true),
              (Found{"0: File_open File_open", "1: Win_create Win_create",
                     "0 file: File_write_all File_write_all", "0 window: Win_fence", "1 file: File_close"}));
}

TEST(CollectiveMatcher, TakesFilesThatWereOpenedTogetherForOne)
{
    const auto on_file = [](std::string name) {
        State state = on_world(std::move(name));
        state.attributes.push_back("fid", "6");
        return state;
    };
    const Found found = {"0: File_open File_open", "0 file: File_close File_close"};
    EXPECT_EQ(match({{0, on_file("File_open")},
                     {1, on_file("File_open")},
                     {0, on_file("File_close")},
                     {1, on_file("File_close")}},
                    true),
              found);
    const Found again = {"0: File_open File_open", "0 file: File_close File_close", "1: File_open File_open",
                         "0 file: File_sync File_sync"};
    EXPECT_EQ(match({{0, on_file("File_open")},
                     {1, on_file("File_open")},
                     {0, on_file("File_close")},
                     {1, on_file("File_close")},
                     {1, on_file("File_open")},
                     {0, on_file("File_open")},
                     {1, on_file("File_sync")},
                     {0, on_file("File_sync")}},
                    true),
              again);
}

TEST(CollectiveMatcher, LeavesOutFilesThatAProcessHasOpenedTwice)
{
    EXPECT_EQ(match({{0, on_object("File_open")},
                     {0, on_object("File_open")},
                     {0, on_object("File_sync")},
                     {0, on_object("File_close")}},
                    true),
              (Found{"0: File_open", "1: File_open"}));
}

} // namespace
} // namespace hdtrace
