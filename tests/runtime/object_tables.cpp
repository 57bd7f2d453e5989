#include "mpiwrapper/runtime/objects/object_table.h"

#include "no_memory.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace hdtrace::mpi;
using hdtrace::test::NoMemory;

namespace {

struct Object : TableEntry<Object> {
    int number = 0;
};

// Enough for the table to grow several times.
std::vector<Object> many_objects()
{
    std::vector<Object> objects(1000);
    for (size_t i = 0; i < objects.size(); ++i)
        objects[i].number = static_cast<int>(i);
    return objects;
}

constexpr uintptr_t key_of(int number)
{
    return 0x5500'0000'0000 + 64 * static_cast<uintptr_t>(number);
}

void add_all(ObjectTable<Object>& table, std::vector<Object>& objects)
{
    for (Object& object : objects)
        table.add(key_of(object.number), &object);
}

TEST(ObjectTable, finds_all_while_it_grows)
{
    static ObjectTable<Object> table; // it has no destructor
    std::vector<Object> objects = many_objects();
    for (Object& object : objects) {
        table.add(key_of(object.number), &object);
        for (int known = 0; known <= object.number; known += 97)
            ASSERT_EQ(table.find(key_of(known)), &objects[static_cast<size_t>(known)]);
    }
    EXPECT_EQ(table.find(key_of(1000)), nullptr);
}

TEST(ObjectTable, forgets_what_is_removed)
{
    static ObjectTable<Object> table; // it has no destructor
    std::vector<Object> objects = many_objects();
    add_all(table, objects);
    for (size_t i = 0; i < objects.size(); i += 2)
        table.remove(&objects[i]);
    for (size_t i = 0; i < objects.size(); ++i)
        ASSERT_EQ(table.find(key_of(static_cast<int>(i))), i % 2 == 0 ? nullptr : &objects[i]);
}

TEST(ObjectTable, tells_objects_with_the_same_key_apart)
{
    static ObjectTable<Object> table; // it has no destructor
    std::vector<Object> objects = many_objects();
    for (Object& object : objects)
        table.add(key_of(object.number % 10), &object);
    for (Object& object : objects)
        ASSERT_EQ(table.find(key_of(object.number % 10),
                             [&](const Object& found) { return found.number == object.number; }),
                  &object);
}

TEST(ObjectTable, works_on_when_there_is_no_memory_to_grow)
{
    static ObjectTable<Object> table; // it has no destructor
    std::vector<Object> objects = many_objects();
    {
        const NoMemory no_memory;
        add_all(table, objects);
    }
    for (Object& object : objects)
        ASSERT_EQ(table.find(key_of(object.number)), &object);
}

TEST(NumbersByName, keeps_a_number_for_each_name)
{
    NumbersByName numbers;
    for (int i = 0; i < 100; ++i) {
        int64_t* const number = numbers.find_or_add(std::to_string(i).c_str(), -1);
        ASSERT_EQ(*number, -1);
        *number = i;
    }
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(*numbers.find_or_add(std::to_string(i).c_str(), -1), i);
    numbers.free_all();
}

TEST(NumbersByName, counts_each_name_by_itself)
{
    NumbersByName numbers;
    for (int round = 1; round <= 3; ++round)
        for (int i = 0; i < 100; ++i)
            ASSERT_EQ(numbers.count(std::to_string(i).c_str()), round);
    numbers.free_all();
}

TEST(NumbersByName, has_no_number_without_memory)
{
    NumbersByName numbers;
    EXPECT_EQ(numbers.count("known"), 1);
    {
        const NoMemory no_memory;
        EXPECT_EQ(numbers.find_or_add("new", 0), nullptr);
        EXPECT_EQ(numbers.count("new"), 0);
        EXPECT_EQ(numbers.count("known"), 2);
    }
    EXPECT_EQ(numbers.count("new"), 1);
    numbers.free_all();
}

} // namespace
