#include "mpiwrapper/runtime/objects/handle.h"

#include "fake_mpi.h"

#include <gtest/gtest.h>
#include <vector>

using namespace hdtrace::mpi;
using hdtrace::test::handle_of;

namespace {

// Handles that share the slot of the first one.
std::vector<MPI_Comm> handles_of_one_slot(size_t count)
{
    std::vector<MPI_Comm> handles;
    for (unsigned number = 0; handles.size() < count; ++number)
        if (handles.empty() || slot_of(handle_of<MPI_Comm>(number)) == slot_of(handles[0]))
            handles.push_back(handle_of<MPI_Comm>(number));
    return handles;
}

MPI_Comm handle_of_another_slot(MPI_Comm handle)
{
    unsigned number = 0;
    while (slot_of(handle_of<MPI_Comm>(number)) == slot_of(handle))
        ++number;
    return handle_of<MPI_Comm>(number);
}

class Caches : public testing::Test {
  protected:
    const int* find(MPI_Comm handle) const { return cache.find(handle, generations.of(handle)); }
    void store(MPI_Comm handle, int value) { cache.store(handle, generations.of(handle), value); }

    Generations<MPI_Comm> generations;
    HandleCache<MPI_Comm, int> cache;
};

TEST_F(Caches, know_what_was_stored)
{
    const MPI_Comm handle = handle_of<MPI_Comm>(1);
    EXPECT_EQ(find(handle), nullptr);
    store(handle, 7);
    ASSERT_NE(find(handle), nullptr);
    EXPECT_EQ(*find(handle), 7);
}

TEST_F(Caches, forget_a_slot_when_one_of_its_handles_is_freed)
{
    const std::vector<MPI_Comm> same = handles_of_one_slot(2);
    const MPI_Comm other = handle_of_another_slot(same[0]);
    store(same[0], 1);
    store(same[1], 2);
    store(other, 3);
    generations.end(same[0]);
    EXPECT_EQ(find(same[0]), nullptr);
    EXPECT_EQ(find(same[1]), nullptr);
    ASSERT_NE(find(other), nullptr);
    EXPECT_EQ(*find(other), 3);
}

TEST_F(Caches, do_not_take_what_was_found_before_the_handle_was_freed)
{
    const MPI_Comm handle = handle_of<MPI_Comm>(1);
    const uint64_t before = generations.of(handle);
    generations.end(handle);
    cache.store(handle, before, 1); // by a thread that was slow
    EXPECT_EQ(find(handle), nullptr);
}

TEST_F(Caches, have_room_for_four_handles_of_a_slot)
{
    const std::vector<MPI_Comm> handles = handles_of_one_slot(5);
    for (int i = 0; i < 5; ++i)
        store(handles[static_cast<size_t>(i)], i);
    EXPECT_EQ(find(handles[0]), nullptr);
    for (int i = 1; i < 5; ++i) {
        ASSERT_NE(find(handles[static_cast<size_t>(i)]), nullptr);
        EXPECT_EQ(*find(handles[static_cast<size_t>(i)]), i);
    }
}

} // namespace
