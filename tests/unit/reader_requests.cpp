#include <gtest/gtest.h>

#include "hdtrace/matching/requests.h"

namespace hdtrace {
namespace {

const TraceFile trace{"", 3, 1, {}};

State call(std::string name, AttributeList attributes, std::vector<Element> children = {})
{
    State state;
    state.name = std::move(name);
    state.attributes = std::move(attributes);
    state.children = std::move(children);
    return state;
}

Element child(std::string name, AttributeList attributes)
{
    return {std::move(name), std::move(attributes)};
}

// What one call does to requests.
struct Progress {
    std::vector<OperationPointer> started;
    std::vector<Completion> completed;
};

struct Table : RequestTable {
    Progress add(const TraceFile& where, const State& state)
    {
        const Call call = {.trace = where, .state = state, .facts = facts_of(state.name)};
        return {begin(call), end(call)};
    }
};

TEST(RequestTable, TellsWhatAWaitCompletes)
{
    Table table;
    State send = call("Isend", {{"size", "8"}, {"rid", "0"}});
    send.time = 10;
    send.end = 12;
    send.line = 3;
    ASSERT_EQ(table.add(trace, send).started.size(), 1u);
    table.add(trace, call("File_iread", {{"rid", "1"}}));

    const State wait = call("Waitany", {}, {child("For", {{"rid", "0"}}), child("Pending", {{"rid", "1"}})});
    const Progress progress = table.add(trace, wait);
    ASSERT_EQ(progress.completed.size(), 1u);
    EXPECT_TRUE(progress.started.empty());
    const Completion& completion = progress.completed[0];
    EXPECT_EQ(completion.rid, 0);
    EXPECT_EQ(completion.outcome, Outcome::completed);
    EXPECT_EQ(completion.what, &wait.children[0]);
    const Operation& operation = *completion.operation;
    EXPECT_EQ(*operation.call, static_cast<const Element&>(send));
    EXPECT_EQ(operation.rank, 3);
    EXPECT_EQ(operation.thread, 1);
    EXPECT_EQ(operation.time, 10);
    EXPECT_EQ(operation.end, 12);
    EXPECT_EQ(operation.line, 3);

    ASSERT_EQ(table.pending().size(), 1u);
    EXPECT_EQ(table.pending()[0]->call->name, "File_iread");
}

TEST(RequestTable, KeepsProcessesApart)
{
    Table table;
    table.add({"", 0, 0, {}}, call("Isend", {{"rid", "0"}}));
    const State wait = call("Wait", {}, {child("For", {{"rid", "0"}})});
    EXPECT_EQ(table.add({"", 1, 0, {}}, wait).completed[0].operation, nullptr);
    EXPECT_EQ(table.add({"", 0, 1, {}}, wait).completed[0].operation->call->name, "Isend");
}

TEST(RequestTable, StartsPersistentOperations)
{
    Table table;
    EXPECT_TRUE(table.add(trace, call("Send_init", {{"toRank", "1"}, {"rid", "0"}})).started.empty());
    table.add(trace, call("Recv_init", {{"rid", "1"}}));
    const auto one = table.add(trace, call("Start", {{"rid", "2"}, {"initRid", "0"}})).started;
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0]->call->name, "Send_init");
    EXPECT_EQ(one[0]->rid, 2);
    table.add(trace, call("Wait", {}, {child("For", {{"rid", "2"}})}));

    const std::vector<Element> starts = {child("Start", {{"rid", "3"}, {"initRid", "1"}}),
                                         child("Start", {{"rid", "4"}, {"initRid", "0"}})};
    const auto all = table.add(trace, call("Startall", {{"count", "2"}}, starts)).started;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]->call->name, "Recv_init");
    EXPECT_EQ(all[1]->call->name, "Send_init");

    const Progress freed = table.add(trace, call("Request_free", {{"rid", "0"}}));
    ASSERT_EQ(freed.completed.size(), 1u);
    EXPECT_EQ(freed.completed[0].operation->rid, 4);
    EXPECT_EQ(freed.completed[0].outcome, Outcome::freed);
    table.add(trace, call("Wait", {}, {child("For", {{"rid", "3"}})}));
    EXPECT_TRUE(table.add(trace, call("Request_free", {{"rid", "1"}})).completed.empty());
    EXPECT_TRUE(table.pending().empty());
}

TEST(RequestTable, TellsHowAnOperationEnded)
{
    Table table;
    for (const char* rid : {"0", "1", "2"})
        table.add(trace, call("Irecv", {{"rid", rid}}));
    table.add(trace, call("Cancel", {{"rid", "0"}}));
    EXPECT_EQ(table.add(trace, call("Wait", {}, {child("For", {{"rid", "0"}, {"cancelled", "1"}})}))
                  .completed[0]
                  .outcome,
              Outcome::cancelled);
    EXPECT_EQ(table.add(trace, call("Request_free", {{"rid", "1"}})).completed[0].outcome, Outcome::freed);
    table.add(trace, call("Cancel", {{"rid", "2"}}));
    EXPECT_EQ(table.add(trace, call("Request_free", {{"rid", "2"}})).completed[0].outcome,
              Outcome::perhaps_cancelled);
    EXPECT_TRUE(table.pending().empty());
}

TEST(RequestTable, KeepsTheOperationOfTheOuterCall)
{
    Table table;
    const State nested = call("Grequest_start", {{"rid", "0"}});
    table.add(trace, call("File_iwrite", {{"rid", "0"}}));
    EXPECT_TRUE(table.add(trace, nested).started.empty());
    EXPECT_EQ(table.pending()[0]->call->name, "File_iwrite");
}

TEST(RequestTable, TellsHowAStartOfAPersistentRequestEnded)
{
    Table table;
    table.add(trace, call("Recv_init", {{"rid", "0"}}));
    table.add(trace, call("Start", {{"rid", "1"}, {"initRid", "0"}}));
    table.add(trace, call("Cancel", {{"rid", "0"}}));
    EXPECT_EQ(table.add(trace, call("Request_free", {{"rid", "0"}})).completed[0].outcome,
              Outcome::perhaps_cancelled);
}

TEST(RequestTable, LeavesOutRequestsThatAreUnknown)
{
    Table table;
    table.add(trace, call("Isend", {{"rc", "MPI_ERR_RANK"}, {"rid", "-1"}}));
    const State wait = call("Wait", {}, {child("For", {{"rid", "-1"}})});
    EXPECT_TRUE(table.add(trace, wait).completed.empty());
    EXPECT_TRUE(table.add(trace, call("Start", {{"rid", "0"}, {"initRid", "-1"}})).started.empty());
    EXPECT_TRUE(table.pending().empty());
}

} // namespace
} // namespace hdtrace
