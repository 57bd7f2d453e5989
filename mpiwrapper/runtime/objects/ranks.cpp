#include "mpiwrapper/runtime/objects/ranks.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/real.h"

#include <limits.h>
#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

// Longer lists of ranks are written with ranges.
constexpr int long_list = 256;

MPI_Group world_group;
int last_number = other_world; // of a member of another world

bool is_identity(const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        if (ranks[i] != i)
            return false;
    return true;
}

// How many ranks from @p first on are written as one range.
int range_length(const int* ranks, int count, int first)
{
    int length = 1;
    while (count > long_list && first + length < count &&
           member(ranks, first + length) == member(ranks, first) + length)
        ++length;
    return length;
}

void add_range(TextBuffer& text, int first, int length)
{
    text.number(first);
    if (length > 1)
        text.text("..").number(first + length - 1);
}

} // namespace

void start_ranks(MPI_Group world)
{
    world_group = world;
}

int* world_ranks(MPI_Group group, int* count)
{
    real.MPI_Group_size(group, count);
    const size_t bytes = static_cast<size_t>(*count) * sizeof(int);
    int* const ranks = static_cast<int*>(own_malloc(bytes + 1));
    int* const world = static_cast<int*>(own_malloc(bytes + 1));
    if (ranks != nullptr && world != nullptr) {
        for (int i = 0; i < *count; ++i)
            ranks[i] = i;
        real.MPI_Group_translate_ranks(group, *count, ranks, world_group, world);
        for (int i = 0; i < *count; ++i)
            if (world[i] < 0)
                world[i] = other_world;
    } else {
        *count = 0; // better none than wrong ones
    }
    own_free(ranks);
    if (world != nullptr && !is_identity(world, *count))
        return world;
    own_free(world);
    return nullptr;
}

bool has_other_world(const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        if (member(ranks, i) <= other_world)
            return true;
    return false;
}

// Those of one communicator ascend, so that many can be written as a range.
void number_others(int* ranks, int count)
{
    constexpr int lowest = INT_MIN / 2;
    int others = 0;
    for (int i = 0; ranks != nullptr && i < count; ++i)
        others += ranks[i] == other_world ? 1 : 0;
    if (others == 0 || __atomic_load_n(&last_number, __ATOMIC_RELAXED) < lowest)
        return;
    int number = __atomic_sub_fetch(&last_number, others, __ATOMIC_RELAXED);
    for (int i = 0; i < count; ++i)
        if (ranks[i] == other_world)
            ranks[i] = number++;
}

void add_ranks(TextBuffer& text, const int* ranks, int count)
{
    for (int i = 0, length = 0; i < count; i += length) {
        length = range_length(ranks, count, i);
        add_range(text, member(ranks, i), length);
        text.text(";");
    }
}

void add_rank_map(TextBuffer& text, const int* ranks, int count)
{
    for (int local = 0, length = 0; local < count; local += length) {
        length = range_length(ranks, count, local);
        add_range(text, member(ranks, local), length);
        text.text("->");
        add_range(text, local, length);
        text.text(";");
    }
}

} // namespace hdtrace::mpi
