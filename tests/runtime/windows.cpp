#include "mpiwrapper/runtime/objects/windows.h"

#include "fake_mpi.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/new_communicators.h"

#include <gtest/gtest.h>

using namespace hdtrace::mpi;
using namespace hdtrace::test;

namespace {

const MPI_Win handle = handle_of<MPI_Win>(1);

TEST(Windows, count_as_made_of_their_communicator)
{
    FakeMpi mpi(0, 2);
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    created_window(handle, world, 80, 8);
    const MPI_Comm copy = mpi.make_comm({0, 1});
    created_from_parent(MPI_COMM_WORLD, copy, "dup");
    EXPECT_STREQ(find_comm(copy, true).uid, "W/2@0");
    const Window window = find_window(handle);
    EXPECT_EQ(window.comm, &world);
    EXPECT_NE(mpi.info().find("Win id=" + std::to_string(window.id) + " cid=" + std::to_string(world.id) +
                              " uid='W/w1' size=80 dispUnit=8\n"),
              std::string::npos);
    freed_window(handle, window);
    EXPECT_EQ(find_window(handle).id, -1);
}

TEST(Windows, keep_their_communicator_and_give_it_back)
{
    FakeMpi mpi(0, 2);
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    const int references = world.references;
    created_window(handle, world, 8, 1);
    EXPECT_EQ(world.references, references + 1);
    const Window window = find_window(handle);
    const uint64_t generation = window_generations.of(handle);
    freed_window(handle, window);
    EXPECT_EQ(world.references, references);
    EXPECT_NE(window_generations.of(handle), generation);
}

TEST(Windows, of_a_handle_that_came_again_are_left_alone)
{
    FakeMpi mpi(0, 2);
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    created_window(handle, world, 8, 1);
    const Window first = find_window(handle);
    created_window(handle, world, 8, 1); // by another thread, while MPI_Win_free runs
    freed_window(handle, first);
    const Window second = find_window(handle);
    EXPECT_NE(second.id, -1);
    EXPECT_NE(second.id, first.id);
    freed_window(handle, second);
}

} // namespace
