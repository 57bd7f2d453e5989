#include "mpiwrapper/runtime/objects/communicators.h"

#include "fake_mpi.h"
#include "hdtrace/settings/environment.h"
#include "mpiwrapper/runtime/objects/neighbors.h"
#include "mpiwrapper/runtime/objects/new_communicators.h"
#include "no_memory.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

using namespace hdtrace::mpi;
using namespace hdtrace::test;

namespace {

using Ranks = std::vector<int>;
using Texts = std::vector<std::string>;

std::string uid_of(MPI_Comm handle)
{
    const Comm& comm = find_comm(handle, true);
    return comm.uid != nullptr ? comm.uid : "none";
}

bool all_equal(const Texts& texts)
{
    return std::set<std::string>(texts.begin(), texts.end()).size() == 1;
}

// The words of each member's text, one list for each word.
std::vector<Texts> by_word(const Texts& members)
{
    std::vector<Texts> words;
    for (const std::string& text : members) {
        std::istringstream stream(text);
        std::string word;
        for (size_t i = 0; stream >> word; ++i) {
            words.resize(std::max(words.size(), i + 1));
            words[i].push_back(word);
        }
    }
    return words;
}

// Each word is equal on all members, and no two words are equal.
void expect_equal_on_all_and_different(const Texts& members, size_t count)
{
    const std::vector<Texts> words = by_word(members);
    ASSERT_EQ(words.size(), count);
    std::set<std::string> different;
    for (const Texts& texts : words) {
        EXPECT_EQ(texts.size(), members.size());
        EXPECT_TRUE(all_equal(texts)) << texts[0];
        EXPECT_NE(texts[0], "none");
        different.insert(texts[0]);
    }
    EXPECT_EQ(different.size(), count);
}

TEST(Uids, of_predefined_communicators)
{
    const Texts members =
        on_each_rank(2, [](FakeMpi&, int) { return uid_of(MPI_COMM_WORLD) + " " + uid_of(MPI_COMM_SELF); });
    EXPECT_EQ(members, (Texts{"W S0", "W S1"}));
}

TEST(Uids, of_copies_are_equal_on_all_members_and_different_for_each_copy)
{
    const Texts members = on_each_rank(3, [](FakeMpi& mpi, int) {
        const MPI_Comm first = mpi.make_comm({0, 1, 2}), second = mpi.make_comm({0, 1, 2}),
                       later = mpi.make_comm({0, 1, 2});
        const MPI_Comm of_first = mpi.make_comm({0, 1, 2});
        created_from_parent(MPI_COMM_WORLD, first, "dup");
        created_from_parent_later(MPI_COMM_WORLD, later, "idup");
        created_from_parent(MPI_COMM_WORLD, second, "dup");
        created_from_parent(first, of_first, "dup");
        return uid_of(first) + " " + uid_of(second) + " " + uid_of(later) + " " + uid_of(of_first);
    });
    expect_equal_on_all_and_different(members, 4);
}

TEST(Uids, of_parts_of_a_communicator)
{
    const Texts members = on_each_rank(5, [](FakeMpi& mpi, int rank) {
        // Rank 4 takes part in the first split with MPI_UNDEFINED, and counts it.
        const MPI_Comm part = rank == 4       ? MPI_COMM_NULL
                              : rank % 2 == 0 ? mpi.make_comm({0, 2})
                                              : mpi.make_comm({1, 3});
        created_from_parent(MPI_COMM_WORLD, part, "split");
        const MPI_Comm copy = mpi.make_comm({0, 1, 2, 3, 4});
        created_from_parent(MPI_COMM_WORLD, copy, "dup");
        return (rank == 4 ? "left-out" : uid_of(part)) + " " + uid_of(copy);
    });
    const std::vector<Texts> words = by_word(members);
    EXPECT_TRUE(all_equal(words[1]));
    EXPECT_EQ(words[0][0], words[0][2]);
    EXPECT_EQ(words[0][1], words[0][3]);
    EXPECT_NE(words[0][0], words[0][1]);
}

TEST(Uids, of_groups_need_only_their_members)
{
    const Texts members = on_each_rank(4, [](FakeMpi& mpi, int rank) {
        const Ranks low = {0, 1}, all = {3, 2, 1, 0};
        std::string uids;
        const auto make = [&](const Ranks& group, int tag) {
            const MPI_Comm made = mpi.make_comm(group);
            created_from_group(MPI_COMM_WORLD, tag, made, "group");
            uids += uid_of(made) + " ";
        };
        if (rank < 2) { // the others know nothing of it
            make(low, 1);
            make(low, 1);
            make(low, 2);
        }
        make(all, 1);
        make(all, 1);
        return uids;
    });
    expect_equal_on_all_and_different({members[0], members[1]}, 5);
    expect_equal_on_all_and_different({members[2], members[3]}, 2);
    EXPECT_TRUE(members[0].ends_with(members[2]));
}

// Threads of a member may make them in any order.
TEST(Uids, of_groups_are_told_apart_by_their_tags)
{
    const Texts members = on_each_rank(2, [](FakeMpi& mpi, int rank) {
        std::map<int, std::string> by_tag;
        for (const int tag : {1 + rank, 2 - rank}) {
            const MPI_Comm made = mpi.make_comm({0, 1}), of_session = mpi.make_comm({0, 1});
            created_from_group(MPI_COMM_WORLD, tag, made, "group");
            created_from_tagged_group(tag == 1 ? "a" : "b", of_session, "from");
            by_tag[tag] = uid_of(made) + " " + uid_of(of_session);
        }
        return by_tag[1] + " " + by_tag[2];
    });
    expect_equal_on_all_and_different(members, 4);
}

TEST(Uids, of_groups_of_sessions)
{
    const Texts members = on_each_rank(2, [](FakeMpi& mpi, int) {
        std::string uids;
        for (const char* tag : {"a", "a", "b"}) {
            const MPI_Comm made = mpi.make_comm({0, 1});
            created_from_tagged_group(tag, made, "from");
            uids += uid_of(made) + " ";
        }
        return uids;
    });
    expect_equal_on_all_and_different(members, 3);
}

TEST(Uids, of_inter_communicators_are_equal_on_both_sides)
{
    const Texts members = on_each_rank(4, [](FakeMpi& mpi, int rank) {
        std::string uids;
        const Ranks low = {0, 1}, high = {2, 3};
        const MPI_Comm local = mpi.make_comm(rank < 2 ? low : high);
        created_from_parent(MPI_COMM_WORLD, local, "split");
        for (int round = 0; round < 2; ++round) {
            const MPI_Comm made = rank < 2 ? mpi.make_comm(low, high) : mpi.make_comm(high, low);
            created_from_two_groups(local, made, "inter");
            uids += uid_of(made) + " ";
            const MPI_Comm merged = mpi.make_comm({0, 1, 2, 3});
            created_from_parent(made, merged, "merge");
            uids += uid_of(merged) + " ";
        }
        return uids;
    });
    expect_equal_on_all_and_different(members, 4);
}

// The root tells what the other side may tell, too.
TEST(Uids, of_worlds_that_meet_through_a_port_are_those_of_a_side)
{
    const Texts members = on_each_rank(2, [](FakeMpi& mpi, int rank) {
        const MPI_Comm other = mpi.make_comm({0, 1}, {-1, -1});
        created_through_port(MPI_COMM_WORLD, 1, "it's a port", other, "connect");
        const MPI_Comm same = mpi.make_comm({rank}, {1 - rank});
        created_through_port(MPI_COMM_WORLD, 1, "port", same, "connect");
        const MPI_Comm merged = mpi.make_comm({0, 1, -1, -1});
        created_from_parent(other, merged, "merge");
        describe(find_comm(other, true));
        const bool tells = mpi.info().find(R"( side='second' connects='it\'s a port')") != std::string::npos;
        EXPECT_EQ(tells, rank == 1);
        return uid_of(other) + " " + uid_of(same) + " " + uid_of(merged);
    });
    expect_equal_on_all_and_different(members, 3);
    EXPECT_EQ(by_word(members)[0][0], "W/connect1");
    EXPECT_EQ(by_word(members)[2][0], "W/connect1/1");
}

// What a process makes with members of another world. They are 7 and 8 here, and our 0 and 1 there.
std::string uids_of_both_worlds(FakeMpi& mpi, const Ranks& ours, const Ranks& theirs, Side side)
{
    const bool is_first = side == Side::first;
    const MPI_Comm between = mpi.make_comm(ours, theirs);
    if (is_first)
        created_by_spawn(MPI_COMM_WORLD, between, "spawn");
    else
        created_by_parents(between, "parent");
    Ranks all = is_first ? ours : theirs;
    const Ranks& later = is_first ? theirs : ours;
    all.insert(all.end(), later.begin(), later.end());
    const MPI_Comm merged = mpi.make_comm(all), later_dup = mpi.make_comm(all);
    created_from_parent(between, merged, "merge");
    created_from_parent_later(merged, later_dup, "dup");
    const MPI_Comm group = mpi.make_comm({all[1], all[2]});
    created_from_group(merged, 5, group, "create");
    return uid_of(between) + " " + uid_of(merged) + " " + uid_of(later_dup) + " " + uid_of(group);
}

TEST(Uids, of_parents_and_children_are_equal)
{
    const Texts parents = on_each_rank(2, [](FakeMpi& mpi, int) {
        return uids_of_both_worlds(mpi, {0, 1}, {7, 8}, Side::first);
    });
    const Texts children = on_each_rank(2, [](FakeMpi& mpi, int) {
        setenv(hdtrace::parent_variable, "W/1@children", 1);
        return uids_of_both_worlds(mpi, {0, 1}, {7, 8}, Side::second);
    });
    expect_equal_on_all_and_different({parents[0], parents[1], children[0], children[1]}, 4);
}

// Two calls of all members, which make inter-communicators of a process of each side.
TEST(Uids, of_parts_of_an_inter_communicator_of_two_worlds)
{
    const auto split = [](FakeMpi& mpi, int rank) {
        const MPI_Comm between = mpi.make_comm({0, 1}, {7, 8});
        if (getenv(hdtrace::parent_variable) == nullptr)
            created_by_spawn(MPI_COMM_WORLD, between, "spawn");
        else
            created_by_parents(between, "parent");
        const MPI_Comm crossed = mpi.make_comm({rank}, {8 - rank}),
                       straight = mpi.make_comm({rank}, {7 + rank});
        created_from_parent(between, crossed, "split");
        created_from_parent(between, straight, "split");
        return uid_of(crossed) + " " + uid_of(straight);
    };
    const Texts parents = on_each_rank(2, split);
    const Texts children = on_each_rank(2, [&](FakeMpi& mpi, int rank) {
        setenv(hdtrace::parent_variable, "W/1@children", 1);
        return split(mpi, rank);
    });
    const std::vector<Texts> ours = by_word(parents), theirs = by_word(children);
    for (const size_t i : {0u, 1u}) {
        EXPECT_EQ(ours[0][i], theirs[0][1 - i]);
        EXPECT_EQ(ours[1][i], theirs[1][i]);
    }
    EXPECT_EQ((std::set{ours[0][0], ours[0][1], ours[1][0], ours[1][1]}.size()), 4u);
}

// Each number means one member of one communicator.
TEST(Communicators, number_members_of_other_worlds)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm between = mpi.make_comm({0, 1}, {7, 8});
    created_by_spawn(MPI_COMM_WORLD, between, "spawn");
    const MPI_Comm merged = mpi.make_comm({7, 0, 1, 8});
    created_from_parent(between, merged, "merge");
    const Comm &first = find_comm(between, true), &second = find_comm(merged, true);
    const std::set<int64_t> numbers = {world_rank(first, 0), world_rank(first, 1), world_rank(second, 0),
                                       world_rank(second, 3)};
    EXPECT_EQ(numbers.size(), 4u);
    EXPECT_LT(*numbers.rbegin(), other_world);
    EXPECT_EQ(world_rank(second, 1), 0);
    describe(first);
    const std::string map =
        std::to_string(world_rank(first, 0)) + "->0;" + std::to_string(world_rank(first, 1)) + "->1;";
    EXPECT_NE(mpi.info().find(" remote='" + map + "' side='first'\n"), std::string::npos) << mpi.info();
}

TEST(Uids, stay_short)
{
    const Texts members = on_each_rank(2, [](FakeMpi& mpi, int) {
        MPI_Comm last = MPI_COMM_WORLD;
        std::set<std::string> uids;
        for (int i = 0; i < 200; ++i) {
            const MPI_Comm made = mpi.make_comm({0, 1});
            created_from_parent(last, made, "dup");
            EXPECT_TRUE(uids.insert(uid_of(made)).second);
            EXPECT_LE(uid_of(made).size(), 200u);
            EXPECT_LE(strlen(find_comm(made, true).name), 100u);
            last = made;
        }
        return uid_of(last);
    });
    EXPECT_TRUE(all_equal(members));
}

TEST(Communicators, are_described_once)
{
    FakeMpi mpi(1, 3);
    const MPI_Comm handle = mpi.make_comm({2, 1});
    created_from_parent(MPI_COMM_WORLD, handle, "split");
    const Comm& comm = find_comm(handle, true);
    describe(comm);
    describe(comm);
    name_comm(comm, "it's mine");
    const std::string world_id = std::to_string(find_comm(MPI_COMM_WORLD, true).id),
                      id = std::to_string(comm.id);
    EXPECT_EQ(mpi.info(), "Comm map='0->0;1->1;2->2;' id=" + world_id + " name='WORLD' uid='W'\n" +
                              "Comm map='2->0;1->1;' id=" + id + " name='WORLD split 1' uid='W/1@2'\n" +
                              "CommName id=" + id + " name='it\\'s mine'\n");
    EXPECT_EQ(comm.rank, 1);
    EXPECT_EQ(world_rank(comm, 0), 2);
    EXPECT_EQ(world_rank(comm, MPI_PROC_NULL), no_process);
    EXPECT_EQ(world_rank(comm, MPI_ANY_SOURCE), any_source);
}

TEST(Communicators, are_others_after_their_handle_was_freed)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({0, 1});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    const std::string before = uid_of(handle);
    const uint64_t generation = comm_generations.of(handle);
    mpi.free_comm(handle);
    EXPECT_NE(comm_generations.of(handle), generation);
    EXPECT_EQ(&find_comm(handle, false), &null_comm);
    EXPECT_EQ(&find_comm(handle, true), &null_comm); // asked for by another attribute's delete function

    mpi.make_comm_as(handle, {1, 0});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    EXPECT_NE(uid_of(handle), before);
    EXPECT_EQ(world_rank(find_comm(handle, true), 0), 1);
}

TEST(Communicators, live_on_while_a_receive_is_pending)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({1, 0});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    const Comm& comm = find_comm(handle, true);
    add_reference(comm);
    mpi.free_comm(handle);
    EXPECT_EQ(world_rank(comm, 0), 1);
    EXPECT_EQ(comm.references, 1);
    drop_reference(comm);
}

TEST(Communicators, get_one_attribute_each)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({0, 1}), later = mpi.make_comm({0, 1});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    find_comm(handle, true);
    EXPECT_EQ(mpi.attributes_set(), 1);
    created_from_parent_later(MPI_COMM_WORLD, later, "idup");
    EXPECT_EQ(mpi.attributes_set(), 1); // it is not complete
    find_comm(later, false);
    EXPECT_EQ(mpi.attributes_set(), 1);
    find_comm(later, true);
    find_comm(later, true);
    EXPECT_EQ(mpi.attributes_set(), 2);
}

TEST(Communicators, keep_the_identity_of_the_outer_call)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({0, 1});
    find_comm(handle, true); // the MPI library used it before it returned from the call that makes it
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    EXPECT_EQ(uid_of(handle), "W/1@0");
    EXPECT_STREQ(find_comm(handle, true).name, "WORLD dup 1");
}

TEST(Communicators, are_unknown_without_memory)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({0, 1});
    {
        const NoMemory no_memory;
        EXPECT_EQ(&find_comm(handle, true), &null_comm);
        created_from_parent(MPI_COMM_WORLD, handle, "dup");
        created_from_group(MPI_COMM_WORLD, 0, handle, "group");
        EXPECT_EQ(&find_comm(handle, true), &null_comm);
    }
    EXPECT_EQ(find_comm(handle, true).local_size, 2);
}

TEST(Communicators, with_many_members_are_written_with_ranges)
{
    FakeMpi mpi(0, 1000);
    EXPECT_TRUE(mpi.info().starts_with("Comm map='0..999->0..999;' id=")) << mpi.info();
}

TEST(Neighbors, are_world_ranks)
{
    FakeMpi mpi(1, 3);
    const MPI_Comm handle = mpi.make_comm({2, 1, 0});
    mpi.make_line(handle);
    const Comm& comm = find_comm(handle, true);
    const Neighbors& neighbors = neighbors_of(handle, comm);
    EXPECT_EQ(Ranks(neighbors.sources, neighbors.sources + neighbors.source_count), (Ranks{2, 0}));
    EXPECT_EQ(Ranks(neighbors.destinations, neighbors.destinations + neighbors.destination_count),
              (Ranks{2, 0}));
    EXPECT_EQ(&neighbors_of(handle, comm), &neighbors);
}

TEST(Neighbors, are_none_without_a_topology_or_memory)
{
    FakeMpi mpi(0, 3);
    EXPECT_EQ(neighbors_of(MPI_COMM_NULL, null_comm).source_count, 0);
    EXPECT_EQ(neighbors_of(MPI_COMM_WORLD, find_comm(MPI_COMM_WORLD, true)).source_count, 0);
    const MPI_Comm handle = mpi.make_comm({0, 1, 2});
    mpi.make_line(handle);
    const Comm& comm = find_comm(handle, true);
    {
        const NoMemory no_memory;
        EXPECT_EQ(neighbors_of(handle, comm).source_count, 0);
    }
    EXPECT_EQ(neighbors_of(handle, comm).source_count, 2);
}

} // namespace
