#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/matching/walk.h"

namespace hdtrace {
namespace {

using Events = std::vector<std::string>;

// Writes down what it is told, e.g. "started Isend 4": the call that is done and its request.
class Recorder : public EventVisitor {
  public:
    Events events;

    void enter(const Call& call) override { add("enter", call); }
    void leave(const Call& call) override
    {
        add("leave", call);
        left.push_back(call.state);
    }
    void mark(const Call& call) override { add("mark", call); }
    void started(const Call&, const Operation& operation) override { add("started", operation); }
    void completed(const Call&, const Completion& completion) override
    {
        if (completion.operation)
            add("completed", *completion.operation);
        else
            events.push_back("completed ? " + std::to_string(completion.rid));
    }
    void sent(const Call&, const Operation& operation) override { add("sent", operation); }
    void received(const Call&, const Completion& completion) override
    {
        add("received", *completion.operation);
    }
    void joined(const Call& call) override { add("joined", call); }
    void accessed(const Call&, const Operation& operation) override { add("accessed", operation); }
    void made(const Call&, ObjectKind kind, std::int64_t id) override { add("made", kind, id); }
    void freed(const Call&, ObjectKind kind, std::int64_t id) override { add("freed", kind, id); }

    std::vector<State> left;

  private:
    void add(const std::string& what, const Call& call)
    {
        events.push_back(what + " " + call.state.name + " " + std::to_string(call.depth) +
                         (call.is_inside_call ? " inside" : ""));
    }
    void add(const std::string& what, const Operation& operation)
    {
        events.push_back(what + " " + operation.call->name + " " + std::to_string(operation.rid));
    }
    void add(const std::string& what, ObjectKind kind, std::int64_t id)
    {
        events.push_back(what + " " + std::string(object_name(kind)) + " " + std::to_string(id));
    }
};

const TraceFile trace{"", 0, 0, {}};

State state(std::string name, AttributeList attributes = {}, std::vector<Element> children = {})
{
    State made;
    made.name = std::move(name);
    made.attributes = std::move(attributes);
    made.children = std::move(children);
    return made;
}

State event(std::string kind, std::string name, std::int64_t time)
{
    State made = state("Event", {{"name", std::move(name)}, {"kind", std::move(kind)}});
    made.is_event = true;
    made.time = made.end = time;
    return made;
}

Events walk(std::initializer_list<State> states)
{
    Recorder recorder;
    EventWalk walk({&recorder});
    for (const State& one : states)
        walk.add(trace, one);
    return recorder.events;
}

TEST(EventWalk, TellsWhatABlockingExchangeDoes)
{
    EXPECT_EQ(walk({state("Sendrecv", {{"toRank", "1"}})}),
              (Events{"enter Sendrecv 0", "started Sendrecv -1", "sent Sendrecv -1", "completed Sendrecv -1",
                      "received Sendrecv -1", "leave Sendrecv 0"}));
}

TEST(EventWalk, TellsOnlyOfCallsAndObjectsWhereNothingElseIsWanted)
{
    Recorder recorder;
    EventWalk walk({&recorder}, EventWalk::Follow::calls);
    State outer = state("Comm_dup", {{"newcid", "1"}});
    outer.nested = {state("Isend", {{"rid", "0"}})};
    walk.add(trace, outer);
    EXPECT_EQ(recorder.events, (Events{"enter Comm_dup 0", "enter Isend 1 inside", "leave Isend 1 inside",
                                       "made communicator 1", "leave Comm_dup 0"}));
    EXPECT_TRUE(walk.requests().pending().empty());
}

TEST(EventWalk, FollowsRequestsFromTheirStartToTheirCompletion)
{
    EXPECT_EQ(walk({state("Send_init", {{"rid", "0"}}), state("Irecv", {{"rid", "1"}}),
                    state("Start", {{"rid", "2"}, {"initRid", "0"}}),
                    state("Waitall", {},
                          {{"For", {{"rid", "1"}}}, {"For", {{"rid", "2"}}}, {"For", {{"rid", "9"}}}})}),
              (Events{"enter Send_init 0", "leave Send_init 0", "enter Irecv 0", "started Irecv 1",
                      "leave Irecv 0", "enter Start 0", "started Send_init 2", "sent Send_init 2",
                      "leave Start 0", "enter Waitall 0", "completed Irecv 1", "received Irecv 1",
                      "completed Send_init 2", "completed ? 9", "leave Waitall 0"}));
}

TEST(EventWalk, TellsWhatIsMadeAndFreedAndWhoJoins)
{
    EXPECT_EQ(walk({state("Comm_split", {{"cid", "0"}, {"newcid", "3"}}), state("Comm_free", {{"cid", "3"}}),
                    state("Type_vector", {{"tid", "7"}})}),
              (Events{"enter Comm_split 0", "started Comm_split -1", "joined Comm_split 0",
                      "completed Comm_split -1", "made communicator 3", "leave Comm_split 0",
                      "enter Comm_free 0", "started Comm_free -1", "joined Comm_free 0",
                      "completed Comm_free -1", "freed communicator 3", "leave Comm_free 0",
                      "enter Type_vector 0", "made datatype 7", "leave Type_vector 0"}));
}

TEST(EventWalk, TellsOfAccessesToFiles)
{
    EXPECT_EQ(walk({state("File_write_all_begin", {{"rid", "5"}}),
                    state("Wait", {}, {{"For", {{"rid", "5"}}}}), state("File_sync")}),
              (Events{"enter File_write_all_begin 0", "started File_write_all_begin 5",
                      "accessed File_write_all_begin 5", "joined File_write_all_begin 0",
                      "leave File_write_all_begin 0", "enter Wait 0", "completed File_write_all_begin 5",
                      "leave Wait 0", "enter File_sync 0", "started File_sync -1", "accessed File_sync -1",
                      "joined File_sync 0", "completed File_sync -1", "leave File_sync 0"}));
}

TEST(EventWalk, LeavesOutWhatFailedOrDidNotEnd)
{
    EXPECT_EQ(walk({state("Send", {{"rc", "MPI_ERR_RANK"}}), state("Recv", {{"unfinished", "1"}})}),
              (Events{"enter Send 0", "leave Send 0", "enter Recv 0", "leave Recv 0"}));
    EXPECT_EQ(
        walk({state("Recv", {{"rc", "MPI_ERR_TRUNCATE"}})}),
        (Events{"enter Recv 0", "started Recv -1", "completed Recv -1", "received Recv -1", "leave Recv 0"}));
}

TEST(EventWalk, SeesCallsInsideCallsAndInsideStatesOfTheProgram)
{
    State outer = state("Bcast"), step = state("Step");
    outer.nested = {state("Send")};
    step.nested = {outer};
    EXPECT_EQ(walk({step}),
              (Events{"enter Step 0", "enter Bcast 1", "started Bcast -1", "joined Bcast 1",
                      "enter Send 2 inside", "started Send -1", "sent Send -1", "completed Send -1",
                      "leave Send 2 inside", "completed Bcast -1", "leave Bcast 1", "leave Step 0"}));
}

TEST(EventWalk, MakesRegionsOfMarks)
{
    State end = event("end", "Step", 50);
    end.children = {{"Step", {{"number", "3"}}}, {"Result", {{"value", "1"}}}};
    Recorder recorder;
    EventWalk walk({&recorder});
    for (const State& one : {event("begin", "Step", 10), state("Barrier"), event("mark", "here", 30),
                             event("begin", "Send", 35), event("end", "Send", 40), end, state("Wait")})
        walk.add(trace, one);
    EXPECT_EQ(recorder.events,
              (Events{"enter Step 0", "enter Barrier 1", "started Barrier -1", "joined Barrier 1",
                      "completed Barrier -1", "leave Barrier 1", "mark Event 1", "enter Send 1",
                      "leave Send 1", "leave Step 0", "enter Wait 0", "leave Wait 0"}));
    const State& step = recorder.left[2];
    EXPECT_EQ(step.time, 10);
    EXPECT_EQ(step.end, 50);
    EXPECT_EQ(step.attributes, (AttributeList{{"number", "3"}}));
    EXPECT_EQ(step.children, (std::vector<Element>{{"Result", {{"value", "1"}}}}));
}

// In which regions calls are, and which regions end: "Send in solve/exchange".
struct RegionRecorder : EventVisitor {
    EventWalk walk{{this}, EventWalk::Follow::calls};
    Events events;

    void leave(const Call& call) override
    {
        const bool is_region = call.own_region != RegionPaths::outside;
        const std::string what = is_region ? walk.regions().text(call.own_region) : call.state.name;
        events.push_back(what + " in " + walk.regions().text(call.region));
    }
};

Events regions_of(std::initializer_list<State> states)
{
    RegionRecorder recorder;
    for (const State& one : states)
        recorder.walk.add(trace, one);
    return recorder.events;
}

TEST(EventWalk, TellsTheRegionsThatCallsAreIn)
{
    State outer = state("Bcast");
    outer.nested = {state("Send"), event("begin", "handler", 5), state("Recv"), event("end", "handler", 6)};
    EXPECT_EQ(regions_of({state("Init"), event("begin", "solve", 1), outer, event("begin", "solve", 7),
                          state("Wait"), event("end", "solve", 8), state("Barrier"), event("end", "solve", 9),
                          state("Finalize")}),
              (Events{"Init in ", "Send in solve", "Recv in solve/handler", "solve/handler in solve",
                      "Bcast in solve", "Wait in solve/solve", "solve/solve in solve", "Barrier in solve",
                      "solve in ", "Finalize in "}));
}

TEST(EventWalk, GoesOnInRegionsThatOverlapWithOneThatEnds)
{
    EXPECT_EQ(regions_of({event("begin", "a", 1), event("begin", "b", 2), event("begin", "c", 3),
                          event("end", "a", 4), state("Send"), event("end", "b", 5), state("Wait"),
                          event("end", "never begun", 6), event("end", "c", 7)}),
              (Events{"a in ", "Send in b/c", "b in ", "Wait in c", "c/never begun in c", "c in "}));
}

TEST(RegionPaths, TellSlashesOfNamesFromThoseBetweenRegions)
{
    RegionPaths paths;
    const auto path_of = [&](std::initializer_list<const char*> names) {
        std::int32_t path = RegionPaths::outside;
        for (const char* const name : names)
            path = paths.inside(path, name);
        return paths.text(path);
    };
    EXPECT_EQ(path_of({"I", "O"}), "I/O");
    EXPECT_EQ(path_of({"I/O"}), "I\\/O");
    EXPECT_EQ(path_of({"I\\", "O"}), "I\\\\/O");
    EXPECT_EQ(path_of({"/", "\\/"}), "\\//\\\\\\/");
}

TEST(RegionPaths, AreNotLongerHoweverManyRegionsAreInsideEachOther)
{
    RegionPaths paths;
    std::int32_t path = RegionPaths::outside;
    std::string longest;
    for (int i = 0; i < 3 * RegionPaths::most_nested; ++i) {
        path = paths.inside(path, "r");
        longest += i == 0 ? "r" : i < RegionPaths::most_nested ? "/r" : "";
        ASSERT_EQ(paths.text(path), i < RegionPaths::most_nested ? longest : longest + "/.../r") << i;
    }
    EXPECT_EQ(paths.inside(path, "r"), path);
    EXPECT_EQ(paths.text(paths.inside(path, "other")), longest + "/.../other");
}

TEST(EventWalk, KeepsTheRegionsOfThreadsApart)
{
    Recorder recorder;
    EventWalk walk({&recorder});
    walk.add({"", 0, 0, {}}, event("begin", "Step", 10));
    walk.add({"", 0, 1, {}}, state("Wait"));
    walk.add({"", 1, 0, {}}, event("end", "Step", 20)); // its beginning was not read
    EXPECT_EQ(recorder.events, (Events{"enter Step 0", "enter Wait 0", "leave Wait 0", "leave Step 0"}));
    EXPECT_EQ(recorder.left[1].time, 20);
}

// Writes down the numbers of calls and regions, of operations and of the calls that have ended.
class Numbers : public EventVisitor {
  public:
    Events events;

    void enter(const Call& call) override { add("enter", call); }
    void leave(const Call& call) override { add("leave", call); }
    void mark(const Call& call) override { add("mark", call); }
    void completed(const Call&, const Completion& completion) override
    {
        events.push_back("completed " + std::to_string(completion.operation->number));
    }

  private:
    void add(const std::string& what, const Call& call)
    {
        const std::string parent = call.parent < 0 ? "" : " in " + std::to_string(call.parent);
        events.push_back(what + " " + call.state.name + " " + std::to_string(call.number) + parent);
    }
};

TEST(EventWalk, NumbersCallsAndRegionsAsTheyBegin)
{
    Numbers numbers;
    EventWalk walk({&numbers});
    State outer = state("Isend", {{"rid", "4"}});
    outer.nested = {state("Test")};
    for (const State& one :
         {event("begin", "solve", 1), outer, event("mark", "half", 2), event("end", "solve", 3),
          event("end", "never begun", 4), state("Wait", {}, {{"For", {{"rid", "4"}}}})})
        walk.add(trace, one);
    EXPECT_EQ(numbers.events, (Events{"enter solve 0", "enter Isend 1", "enter Test 2 in 1",
                                      "leave Test 2 in 1", "leave Isend 1", "mark Event -1", "leave solve 0",
                                      "leave never begun 3", "enter Wait 4", "completed 1", "leave Wait 4"}));
}

TEST(EventWalk, KnowsTheNumberOfACallWhoseEndComesLater)
{
    Numbers numbers;
    EventWalk walk({&numbers});
    const TraceFile other{"", 1, 0, {}};
    const State send = state("Send"), receive = state("Recv");
    walk.begin(trace, send);
    walk.begin(other, receive);
    walk.end(trace, send);
    walk.end(other, receive);
    EXPECT_EQ(numbers.events, (Events{"enter Send 0", "enter Recv 1", "completed 0", "leave Send 0",
                                      "completed 1", "leave Recv 1"}));
}

} // namespace
} // namespace hdtrace
