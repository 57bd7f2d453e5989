#include "hdtrace/matching/one_sided_rules.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/format/left_out.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {
namespace {

RunFact rule(std::initializer_list<Attribute> conditions, const char* record = "none")
{
    AttributeList attributes(conditions);
    attributes.push_back("record", record);
    return {{"Rule", attributes}, {{0, 1}}};
}

RunFact calls(const char* name, const char* recorded, const char* ignored)
{
    return {{"Calls", {{"name", name}, {"recorded", recorded}, {"ignored", ignored}}}, {{0, 1}}};
}

Project project_with(std::vector<RunFact> facts)
{
    Project project;
    project.process_count = 2;
    project.communicators = {{"WORLD", "W", {{0, 0, 0, {}}, {1, 1, 0, {}}}}};
    project.run.facts = std::move(facts);
    return project;
}

/// "m" for messages, "c" for collective operations.
std::string one_sided(std::vector<RunFact> facts)
{
    const OneSidedRules found = one_sided_rules(project_with(std::move(facts)));
    return std::string(found.of_messages ? "m" : "") + (found.of_collectives ? "c" : "");
}

TEST(OneSidedRules, AreThoseAboutSomeOfTheFunctions)
{
    EXPECT_EQ(one_sided({rule({{"call", "Send"}})}), "m");
    EXPECT_EQ(one_sided({rule({{"call", "Irecv, recv"}})}), "m");
    EXPECT_EQ(one_sided({rule({{"call", "Allreduce"}})}), "") << "all members leave it out";
    EXPECT_EQ(one_sided({rule({{"class", "file"}})}), "");
    EXPECT_EQ(one_sided({rule({})}), "") << "nothing is there";
    EXPECT_EQ(one_sided({}), "");
}

TEST(OneSidedRules, AskForWhatTheOtherSideMayNotHave)
{
    EXPECT_EQ(one_sided({rule({{"size", ":1K"}})}), "mc");
    EXPECT_EQ(one_sided({rule({{"occurrence", "1:10"}})}), "mc");
    EXPECT_EQ(one_sided({rule({{"peer", "0"}})}), "m");
}

TEST(OneSidedRules, AreThoseForSomeProcesses)
{
    EXPECT_EQ(one_sided({rule({{"rank", "0"}})}), "") << "nothing of them is there";
    EXPECT_EQ(one_sided({rule({{"rank", "0"}, {"call", "Bcast"}})}), "c");
    RunFact of_one_process = rule({{"call", "Bcast"}});
    of_one_process.ranks = {{1, 1}};
    EXPECT_EQ(one_sided({of_one_process}), "c");
}

TEST(OneSidedRules, AreNotThoseForAWhile)
{
    EXPECT_EQ(one_sided({rule({}), rule({{"region", "solve"}}, "all")}), "");
    EXPECT_EQ(one_sided({rule({{"from", "Allreduce 3"}})}), "");
}

TEST(OneSidedRules, MayTakeSomeOfWhatOthersLeaveOut)
{
    EXPECT_EQ(one_sided({rule({}), rule({{"call", "Send"}}, "all")}), "m");
    EXPECT_EQ(one_sided({rule({{"call", "Send"}}, "all")}), "") << "nothing is left out";
    EXPECT_EQ(one_sided({rule({{"call", "Iprobe, Test"}}, "success")}), "");
}

TEST(OneSidedRules, CountIfCallsWereLeftOut)
{
    const RunFact no_sends = rule({{"call", "Send"}});
    EXPECT_EQ(one_sided({no_sends, calls("Send", "0", "3"), calls("Recv", "3", "0")}), "m");
    EXPECT_EQ(one_sided({no_sends, calls("Isend", "3", "0"), calls("Recv", "3", "0")}), "");
    EXPECT_EQ(one_sided({rule({{"call", "Send, Recv"}}), calls("Send", "0", "3"), calls("Recv", "0", "3")}),
              "")
        << "the program calls no other function";
}

TEST(OneSidedRules, AreToldByTheProject)
{
    EXPECT_EQ(
        LeftOut(project_with({rule({{"call", "Send"}}), calls("Send", "0", "3"), calls("Recv", "3", "0")}))
            .text(),
        "6 calls are left out, as was asked for: Send (6); the rules leave out some of what belongs "
        "together, "
        "so sends and receives are not put together");
}

/// Calls of process 0 and 1 in turn, on the only communicator.
std::vector<std::string> matched(const RunFact& only_rule, std::initializer_list<State> states)
{
    const Project project = project_with({only_rule});
    const ObjectTable objects(project);
    std::vector<std::string> found;
    const auto line_of = [](const auto& end) { return end ? std::to_string(end->line) : "-"; };
    MessageMatcher messages(objects, [&](const Message& message) {
        found.push_back(line_of(message.send) + ">" + line_of(message.receive));
    });
    CollectiveMatcher collectives(objects, [&](const Collective& collective) {
        found.push_back(collective.calls.front().name + std::to_string(collective.calls.size()));
    });
    EventWalk walk({&messages, &collectives});
    std::int64_t line = 0;
    for (State state : states) {
        state.attributes.push_back("cid", "0");
        state.line = ++line;
        walk.add({"", (line - 1) % 2, 0, {}}, state);
    }
    messages.finish();
    collectives.finish();
    return found;
}

State state(const char* name, AttributeList attributes = {}, std::vector<Element> children = {})
{
    State made;
    made.name = name;
    made.attributes = std::move(attributes);
    made.children = std::move(children);
    return made;
}

TEST(OneSidedRules, LetNothingBePutTogether)
{
    const std::vector<Element> got = {{"For", {{"rid", "1"}, {"fromRank", "0"}, {"fromTag", "5"}}}};
    const auto of = [&](const RunFact& only_rule) {
        return matched(only_rule, {state("Send", {{"toRank", "1"}, {"toTag", "5"}}),
                                   state("Irecv", {{"fromRank", "-1"}, {"fromTag", "5"}, {"rid", "1"}}),
                                   state("Barrier"), state("Wait", {}, got), state("Test"),
                                   state("Irecv", {{"fromRank", "0"}, {"fromTag", "5"}, {"rid", "2"}}),
                                   state("Send", {{"toRank", "1"}, {"toTag", "5"}}), state("Barrier")});
    };
    EXPECT_EQ(of(rule({{"class", "file"}})), (std::vector<std::string>{"1>2", "Barrier2", "7>-", "->6"}));
    EXPECT_EQ(of(rule({{"size", ":1K"}})),
              (std::vector<std::string>{"1>-", "Barrier1", "->2", "7>-", "Barrier1", "->6"}));
}

} // namespace
} // namespace hdtrace
