#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {
namespace {

/// Three processes in WORLD (cid 0); 0 and 1 on one side, 2 on the other in cid 1. In cid 2 and 3 are two
/// more processes, without traces: together with them, and on the other side of process 0.
Project three_processes()
{
    Project project;
    project.communicators = {{"WORLD", "W", {{0, 0, 0, {}}, {1, 1, 0, {}}, {2, 2, 0, {}}}},
                             {"inter", "W/c1", {{0, 0, 1, 0}, {1, 1, 1, 0}, {2, 0, 1, 1}}},
                             {"with others", "W/c2", {{0, 0, 2, {}}}, 2},
                             {"to others", "W/c3", {{0, 0, 3, 0}}, 0, 2}};
    return project;
}

State call(std::string name, AttributeList attributes, std::vector<Element> children = {})
{
    State state;
    state.name = std::move(name);
    state.attributes = std::move(attributes);
    if (!state.find("cid"))
        state.attributes.push_back("cid", "0");
    state.children = std::move(children);
    return state;
}

/// A part of each of the three processes, in elements of that name.
std::vector<Element> parts(const std::string& name, std::initializer_list<int> sizes)
{
    std::vector<Element> elements;
    for (const int size : sizes)
        elements.push_back(
            {name, {{"rank", std::to_string(elements.size())}, {"size", std::to_string(size)}}});
    return elements;
}

std::vector<Element> both(std::initializer_list<int> sends, std::initializer_list<int> receives)
{
    std::vector<Element> elements = parts("Send", sends);
    for (Element& element : parts("Recv", receives))
        elements.push_back(std::move(element));
    return elements;
}

using Bytes = std::pair<std::int64_t, std::int64_t>; // sent, received
constexpr Bytes none = {-1, -1};

/// What the last one of some calls of a process moves.
Bytes of_last(std::int64_t rank, const std::vector<State>& calls)
{
    struct LastVolume : EventVisitor {
        explicit LastVolume(const ObjectTable& objects) : volumes(objects) {}
        void leave(const Call& call) override
        {
            const auto volume = volumes.of(call);
            last = volume ? Bytes(volume->sent, volume->received) : none;
        }
        Volumes volumes;
        Bytes last = none;
    };
    const Project project = three_processes();
    const ObjectTable objects(project);
    LastVolume visitor(objects);
    EventWalk walk({&visitor}, EventWalk::Follow::calls);
    for (const State& state : calls)
        walk.add({"", rank, 0, {}}, state);
    return visitor.last;
}

Bytes of(std::int64_t rank, State state)
{
    return of_last(rank, {std::move(state)});
}

const Attribute in_place = {"inPlace", "1"}, root_0 = {"rootRank", "0"};

TEST(Volumes, OfMessagesAreWhatIsSentAndWhatIsReceived)
{
    EXPECT_EQ(of(0, call("Send", {{"size", "8"}, {"toRank", "1"}})), Bytes(8, 0));
    EXPECT_EQ(of(0, call("Recv", {{"size", "8"}, {"fromRank", "1"}})), Bytes(0, 8));
    EXPECT_EQ(of(0, call("Sendrecv", {{"size", "8"}, {"toRank", "1"}, {"recvSize", "4"}})), Bytes(8, 4));
    EXPECT_EQ(of(0, call("Send", {{"size", "8"}, {"toRank", "-2"}})), Bytes(0, 0)) << "MPI_PROC_NULL";
}

TEST(Volumes, OfPersistentOperationsCountAtEachStart)
{
    const State prepared = call("Send_init", {{"size", "8"}, {"toRank", "1"}, {"rid", "3"}});
    const State start = call("Start", {{"rid", "4"}, {"initRid", "3"}});
    const State start_two =
        call("Startall", {}, {{"Start", {{"initRid", "3"}}}, {"Start", {{"initRid", "3"}}}});
    EXPECT_EQ(of(0, prepared), none);
    EXPECT_EQ(of_last(0, {prepared, start}), Bytes(8, 0));
    EXPECT_EQ(of_last(0, {prepared, start, start_two}), Bytes(16, 0));
    EXPECT_EQ(of_last(0, {prepared, call("Request_free", {{"rid", "3"}}), start}), none);
}

TEST(Volumes, OfCallsThatMoveNothingAreNone)
{
    EXPECT_EQ(of(0, call("Barrier", {})), none);
    EXPECT_EQ(of(0, call("Probe", {{"size", "8"}})), none) << "the receive gets it";
    EXPECT_EQ(of(0, call("Type_size", {{"size", "8"}})), none);
    EXPECT_EQ(of(0, call("Send", {{"size", "8"}, {"toRank", "1"}, {"rc", "MPI_ERR_RANK"}})), Bytes(0, 0));
}

TEST(Volumes, GoFromTheRootToAll)
{
    EXPECT_EQ(of(0, call("Bcast", {{"size", "8"}, root_0})), Bytes(8, 0));
    EXPECT_EQ(of(1, call("Bcast", {{"size", "8"}, root_0})), Bytes(0, 8));
    EXPECT_EQ(of(0, call("Scatter", {{"size", "8"}, {"recvSize", "8"}, root_0})), Bytes(24, 8));
    EXPECT_EQ(of(0, call("Scatter", {{"size", "8"}, root_0, in_place})), Bytes(16, 0));
    EXPECT_EQ(of(1, call("Scatter", {{"recvSize", "8"}, root_0})), Bytes(0, 8));
    const auto sends = parts("Send", {1, 2, 3});
    EXPECT_EQ(of(0, call("Scatterv", {{"recvSize", "1"}, root_0}, sends)), Bytes(6, 1));
    EXPECT_EQ(of(0, call("Scatterv", {root_0, in_place}, sends)), Bytes(5, 0));
    EXPECT_EQ(of(2, call("Iscatterv", {{"recvSize", "3"}, root_0})), Bytes(0, 3));
}

TEST(Volumes, GoFromAllToTheRoot)
{
    EXPECT_EQ(of(0, call("Gather", {{"size", "8"}, {"recvSize", "8"}, root_0})), Bytes(8, 24));
    EXPECT_EQ(of(0, call("Gather", {{"recvSize", "8"}, root_0, in_place})), Bytes(0, 16));
    EXPECT_EQ(of(1, call("Gather", {{"size", "8"}, root_0})), Bytes(8, 0));
    const auto receives = parts("Recv", {1, 2, 3});
    EXPECT_EQ(of(0, call("Gatherv", {{"size", "1"}, root_0}, receives)), Bytes(1, 6));
    EXPECT_EQ(of(0, call("Gatherv", {root_0, in_place}, receives)), Bytes(0, 5));
    EXPECT_EQ(of(0, call("Reduce", {{"size", "8"}, root_0})), Bytes(8, 8));
    EXPECT_EQ(of(0, call("Reduce", {{"size", "8"}, root_0, in_place})), Bytes(8, 8));
    EXPECT_EQ(of(1, call("Reduce", {{"size", "8"}, root_0})), Bytes(8, 0));
}

TEST(Volumes, GoFromAllToAll)
{
    EXPECT_EQ(of(1, call("Allgather", {{"size", "8"}, {"recvSize", "8"}})), Bytes(8, 24));
    EXPECT_EQ(of(1, call("Allgather", {{"recvSize", "8"}, in_place})), Bytes(8, 16));
    EXPECT_EQ(of(1, call("Allgatherv", {{"size", "2"}}, parts("Recv", {1, 2, 3}))), Bytes(2, 6));
    EXPECT_EQ(of(1, call("Allgatherv", {in_place}, parts("Recv", {1, 2, 3}))), Bytes(2, 4));
    EXPECT_EQ(of(1, call("Alltoall", {{"size", "8"}, {"recvSize", "4"}})), Bytes(24, 12));
    EXPECT_EQ(of(1, call("Alltoall", {{"recvSize", "8"}, in_place})), Bytes(16, 16));
    EXPECT_EQ(of(1, call("Alltoallv", {}, both({1, 2, 3}, {4, 5, 6}))), Bytes(6, 15));
    EXPECT_EQ(of(1, call("Alltoallw", {in_place}, parts("Recv", {4, 5, 6}))), Bytes(10, 10));
    EXPECT_EQ(of(1, call("Allreduce", {{"size", "8"}})), Bytes(8, 8));
    EXPECT_EQ(of(1, call("Scan", {{"size", "8"}})), Bytes(8, 8));
    EXPECT_EQ(of(0, call("Scan", {{"size", "8"}})), Bytes(8, 8));
    EXPECT_EQ(of(1, call("Exscan", {{"size", "8"}})), Bytes(8, 8));
    EXPECT_EQ(of(0, call("Exscan", {{"size", "8"}})), Bytes(8, 0));
    EXPECT_EQ(of(1, call("Reduce_scatter", {}, parts("Recv", {1, 2, 3}))), Bytes(6, 2));
    EXPECT_EQ(of(1, call("Reduce_scatter_block", {{"size", "8"}})), Bytes(24, 8));
}

TEST(Volumes, GoToNeighbours)
{
    const Attribute from_two = {"indegree", "2"}, to_three = {"outdegree", "3"};
    const Attribute sent = {"size", "8"}, received = {"recvSize", "4"};
    EXPECT_EQ(of(1, call("Ineighbor_alltoallv", {}, both({1, 2}, {3}))), Bytes(3, 3));
    EXPECT_EQ(of(1, call("Neighbor_alltoall", {sent, received, from_two, to_three})), Bytes(24, 8));
    EXPECT_EQ(of(1, call("Ineighbor_allgather", {sent, received, from_two, to_three})), Bytes(8, 8));
    EXPECT_EQ(of(1, call("Neighbor_alltoall", {sent, received})), Bytes(8, 4)); // of an older trace
    const auto beyond = [](std::string name) {
        return Element{std::move(name), {{"rank", "-2"}, {"size", "8"}}};
    };
    EXPECT_EQ(of(1, call("Neighbor_alltoallw", {}, {beyond("Send"), beyond("Recv")})), Bytes(0, 0));
}

TEST(Volumes, GoToTheOtherGroup)
{
    const Attribute inter = {"cid", "1"};
    EXPECT_EQ(of(0, call("Alltoall", {inter, {"size", "8"}, {"recvSize", "8"}})), Bytes(8, 8));
    EXPECT_EQ(of(2, call("Alltoall", {inter, {"size", "8"}, {"recvSize", "8"}})), Bytes(16, 16));
    EXPECT_EQ(of(2, call("Scatter", {inter, {"size", "8"}, {"rootRank", "-3"}})), Bytes(16, 0));
    EXPECT_EQ(of(2, call("Gather", {inter, {"recvSize", "8"}, {"rootRank", "-3"}})), Bytes(0, 16));
    EXPECT_EQ(of(1, call("Bcast", {inter, {"size", "8"}, {"rootRank", "-2"}})), Bytes(0, 0));
    EXPECT_EQ(of(0, call("Reduce_scatter_block", {inter, {"size", "8"}})), Bytes(16, 8)); // of the own group
    EXPECT_EQ(of(2, call("Reduce_scatter_block", {inter, {"size", "8"}})), Bytes(8, 8));
}

TEST(Volumes, GoToProcessesThatWereNotTraced)
{
    for (const char* const cid : {"2", "3"}) {
        const State bcast =
            call("Bcast", {{"cid", cid}, {"size", "8"}, {"rootRank", cid[0] == '2' ? "0" : "-3"}});
        EXPECT_EQ(of(0, bcast), of(0, call("Bcast", {{"size", "8"}, {"rootRank", "0"}})));
    }
    EXPECT_EQ(of(0, call("Alltoall", {{"cid", "2"}, {"size", "8"}, {"recvSize", "8"}})), Bytes(24, 24));
    EXPECT_EQ(of(0, call("Alltoall", {{"cid", "3"}, {"size", "8"}, {"recvSize", "8"}})), Bytes(16, 16));
}

TEST(Volumes, OfFilesAndWindowsAreWhatIsWrittenAndRead)
{
    EXPECT_EQ(of(0, call("File_write_all", {{"size", "8"}})), Bytes(8, 0));
    EXPECT_EQ(of(0, call("File_read", {{"size", "8"}, {"actual", "3"}})), Bytes(0, 3));
    EXPECT_EQ(of(0, call("File_sync", {})), none);
    EXPECT_EQ(of(0, call("Put", {{"size", "8"}, {"toRank", "1"}})), Bytes(8, 0));
    EXPECT_EQ(of(0, call("Get", {{"size", "8"}, {"fromRank", "1"}})), Bytes(0, 8));
    EXPECT_EQ(of(0, call("Accumulate", {{"size", "8"}, {"toRank", "1"}})), Bytes(8, 0));
    EXPECT_EQ(of(0, call("Get_accumulate", {{"size", "0"}, {"recvSize", "8"}, {"toRank", "1"}})),
              Bytes(0, 8));
}

TEST(Volumes, StopAtTheLargestNumber)
{
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    const std::string huge = std::to_string(largest);
    EXPECT_EQ(of(0, call("Alltoall", {{"size", huge}, {"recvSize", "-8"}})), Bytes(largest, 0));
    EXPECT_EQ((Volume{largest, 1}.moved()), largest);
}

} // namespace
} // namespace hdtrace
