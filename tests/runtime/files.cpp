#include "mpiwrapper/runtime/objects/files.h"

#include "fake_mpi.h"
#include "no_memory.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <pthread.h>

using namespace hdtrace::mpi;
using namespace hdtrace::test;

namespace {

const MPI_File handle = handle_of<MPI_File>(1);

TEST(Files, have_one_id_for_each_canonical_name)
{
    FakeMpi mpi(0, 1);
    const int64_t null = FileBeforeCall("/dev/null").id();
    EXPECT_EQ(FileBeforeCall("/dev/../dev/./null").id(), null);
    EXPECT_NE(FileBeforeCall("/dev/zero").id(), null);
    EXPECT_EQ(FileBeforeCall("/dev/null").id(), null);
    const std::string info = mpi.info();
    EXPECT_NE(info.find("File name=\"/dev/null\" "), std::string::npos);
    EXPECT_EQ(info.find("File name=\"/dev/null\" "), info.rfind("File name=\"/dev/null\" "));
}

TEST(Files, are_known_until_they_are_closed)
{
    EXPECT_EQ(find_file(handle).id, -1);
    opened(handle, 3, MPI_MODE_RDONLY);
    const File file = find_file(handle);
    EXPECT_EQ(file.id, 3);
    EXPECT_TRUE(file.has_position);
    const uint64_t generation = file_generations.of(handle);
    closed(handle, file);
    EXPECT_EQ(find_file(handle).id, -1);
    EXPECT_NE(file_generations.of(handle), generation);
}

TEST(Files, are_others_when_their_handle_comes_again)
{
    opened(handle, 3, MPI_MODE_RDONLY);
    const File first = find_file(handle);
    const uint64_t generation = file_generations.of(handle);
    opened(handle, 4, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL); // its closing has not been seen
    EXPECT_NE(file_generations.of(handle), generation);
    const File second = find_file(handle);
    EXPECT_EQ(second.id, 4);
    EXPECT_FALSE(second.has_position);
    closed(handle, first); // late, by another thread
    EXPECT_EQ(find_file(handle).id, 4);
    closed(handle, second);
    EXPECT_EQ(find_file(handle).id, -1);
}

TEST(Files, remember_the_split_access_that_has_begun)
{
    Request access;
    access.rid = 7;
    set_split_access(handle, access);
    EXPECT_EQ(split_access_of(handle).rid, -1); // it is not open
    opened(handle, 3, MPI_MODE_RDONLY);
    set_split_access(handle, access);
    EXPECT_EQ(split_access_of(handle).rid, 7);
    closed(handle, find_file(handle));
    EXPECT_EQ(split_access_of(handle).rid, -1);
}

// What a thread writes to of its stack.
size_t stack_used_by(void* (*use)(void*))
{
    constexpr size_t size = 256 * 1024;
    constexpr char pattern = 0x5a;
    alignas(4096) static char stack[size];
    std::fill(stack, stack + size, pattern);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, size);
    EXPECT_EQ(pthread_create(&thread, &attributes, use, nullptr), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return static_cast<size_t>(stack + size -
                               std::find_if(stack, stack + size, [](char byte) { return byte != pattern; }));
}

TEST(Files, take_little_of_the_stack)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "its functions need more";
#endif
    FakeMpi mpi(0, 1);
    const size_t without = stack_used_by([](void* nothing) { return nothing; });
    const size_t with = stack_used_by([](void* nothing) {
        FileBeforeCall("/nowhere/at/all").id();
        FileBeforeCall("/tmp/nothing").id();
        return nothing;
    });
    EXPECT_LT(with - without, 8000u);
}

TEST(Files, are_unknown_without_memory)
{
    {
        const NoMemory no_memory;
        EXPECT_EQ(FileBeforeCall("/dev/full").id(), -1);
        opened(handle, 3, MPI_MODE_RDONLY);
    }
    EXPECT_EQ(find_file(handle).id, -1);
}

} // namespace
