// Ranks in the world, and how lists of them are written.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace {
class TextBuffer;
}

namespace hdtrace::mpi {

/// How ranks are written that are not members of the world (docs/format.md).
enum SpecialRank : int {
    undefined_rank = -1,
    any_source = -1,
    no_process = -2,
    root_of_group = -3,
    other_world = -4 ///< and below it: see number_others()
};

/// A constant of MPI that stands where ranks do; other numbers are what they are.
inline int local_rank(int rank)
{
    return rank == MPI_ANY_SOURCE  ? any_source
           : rank == MPI_PROC_NULL ? no_process
           : rank == MPI_ROOT      ? root_of_group
           : rank == MPI_UNDEFINED ? undefined_rank
                                   : rank;
}

/// Must be called once, after MPI_Init or MPI_Session_init. @p world is the group that world ranks count in.
void start_ranks(MPI_Group world);

/// World ranks of the members of a group, by their order; null if member i is world rank i. The caller frees
/// it. If memory is short there are no members.
int* world_ranks(MPI_Group group, int* count);

/// The world rank of a member. @p ranks are as world_ranks() gives them, also below.
inline int member(const int* ranks, int index)
{
    return ranks == nullptr ? index : ranks[index];
}
/// Whether a member is not in the world.
bool has_other_world(const int* ranks, int count);
/// Gives the members of other worlds numbers, from -5 downwards, in the place of other_world. Each number
/// stands for one member of one communicator of this process, so that readers know who that is.
void number_others(int* ranks, int count);

/// Appends "1;2;3;"; many ranks are written with ranges, "0..999;".
void add_ranks(TextBuffer& text, const int* ranks, int count);
/// Appends "<world rank>-><rank>;" for each member, with ranges in the same way.
void add_rank_map(TextBuffer& text, const int* ranks, int count);

} // namespace hdtrace::mpi
