// Communicators: ids, members, and an identity that is equal on all members without communication
// (docs/identity.md).
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"
#include "mpiwrapper/runtime/objects/handle.h"
#include "mpiwrapper/runtime/objects/object_table.h"

#include <stdint.h>

namespace hdtrace {
class TextBuffer;
}

namespace hdtrace::mpi {

/// How ranks are written that are not members of the world (docs/format.md).
enum SpecialRank : int { any_source = -1, no_process = -2, root_of_group = -3, other_world = -4 };

/// World ranks of the neighbors in a communicator with a topology, in the order of the neighborhood
/// collectives.
struct Neighbors {
    int source_count;
    int destination_count;
    int* sources;
    int* destinations;
};

/// What is known of a communicator. Lives until it was freed and no pending receive refers to it.
struct Comm : TableEntry<Comm> {
    int64_t id = -1;
    int rank = 0;        ///< of this process
    int local_size = 0;  ///< members on this process's side
    int remote_size = 0; ///< of the other side; 0 unless it is an inter-communicator
    bool is_inter = false;
    bool is_attached = false; ///< it tells us when it is freed, see attach()
    int* local = nullptr;     ///< world ranks of the local group; null: rank i is world rank i
    int* remote = nullptr;    ///< world ranks of the remote group
    char* uid = nullptr;      ///< null if there is no rule for it
    char* name = nullptr;
    int creations = 0;             ///< communicators made from this one so far
    NumbersByName group_creations; ///< by the groups of their members
    Neighbors* neighbors = nullptr;
    int references = 1; ///< the communicator itself and pending receives

    /// The members that ranks in calls refer to: the remote group of an inter-communicator.
    const int* peers() const { return is_inter ? remote : local; }
    int peer_count() const { return is_inter ? remote_size : local_size; }
};

extern const Comm null_comm;

/// Ranks in calls -> ranks in the trace.
inline int64_t world_rank(const Comm& comm, int rank)
{
    if (rank >= 0) {
        const int* const peers = comm.peers();
        return peers == nullptr || rank >= comm.peer_count() ? rank : peers[rank];
    }
    return rank == MPI_ANY_SOURCE  ? any_source
           : rank == MPI_PROC_NULL ? no_process
           : rank == MPI_ROOT      ? root_of_group
                                   : rank;
}

/// Must be called once, after MPI_Init or MPI_Session_init. @p world is the group that world ranks count in;
/// the communicators WORLD and SELF exist only after MPI_Init.
void start_communicators(MPI_Group world, bool has_world_communicator);

/// The communicator of a handle; null_comm for MPI_COMM_NULL. With @p may_ask false only handles that are
/// known are looked up, since a call that failed may have been given anything.
const Comm& find_comm(MPI_Comm handle, bool may_ask);
/// Gives it an id and describes it in the .info, if that has not been done.
void describe(const Comm& comm);
/// Remembers the name that the program gave it.
void name_comm(const Comm& comm, const char* name);

/// Rules for new communicators. Every member calls them in the same order, also those that got MPI_COMM_NULL.
/// The word says how it was made, for its name.
void created_from_parent(MPI_Comm parent, MPI_Comm made, const char* word);
/// The new communicator is not complete yet, but has the members of its parent.
void created_from_parent_later(MPI_Comm parent, MPI_Comm made, const char* word);
/// Only the members of the new one took part, each with the same tag.
void created_from_group(MPI_Comm parent, int tag, MPI_Comm made, const char* word);
/// The same for groups of sessions, which have no parent but a tag.
void created_from_tagged_group(const char* tag, MPI_Comm made, const char* word);
void created_from_two_groups(MPI_Comm local, MPI_Comm made, const char* word);
/// As from two groups if both sides are in this world. Else the other side may have been started by itself:
/// there is no common knowledge to build a uid from.
void created_from_two_worlds(MPI_Comm made, const char* word);

/// Counts something that all members make of a communicator, in the same order; returns its number.
int count_creation(const Comm& parent);

/// World ranks of the members of a group, by their order; null if member i is world rank i. The caller frees
/// it. If memory is short there are no members.
int* world_ranks(MPI_Group group, int* count);

/// Appends "1;2;3;"; many ranks are written with ranges, "0..999;".
void add_ranks(TextBuffer& text, const int* ranks, int count);

const Neighbors& neighbors_of(MPI_Comm handle, const Comm& comm);

void add_reference(const Comm& comm);
void drop_reference(const Comm& comm);

/// Ended whenever a communicator was freed.
extern Generations<MPI_Comm> comm_generations;

} // namespace hdtrace::mpi
