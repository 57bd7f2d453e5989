// Communicators: ids, members, and an identity that is equal on all members without communication
// (docs/identity.md).
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"
#include "mpiwrapper/runtime/objects/handle.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/objects/ranks.h"

#include <stdint.h>

namespace hdtrace {
class TextBuffer;
}

namespace hdtrace::mpi {

struct Neighbors;

/// Members of two worlds, who cannot name each other, know an inter-communicator by its sides.
enum class Side : char {
    unknown,
    first, ///< the parents of what they have spawned; who accepts
    second,
    own ///< only known to be that of this process, after which the communicator's uid is named
};

/// What is known of a communicator. Lives until it was freed and no pending receive refers to it.
struct Comm : TableEntry<Comm> {
    int64_t id = -1;
    int rank = 0;        ///< of this process
    int local_size = 0;  ///< members on this process's side
    int remote_size = 0; ///< of the other side; 0 unless it is an inter-communicator
    bool is_inter = false;
    bool is_attached = false; ///< an attribute tells us when it is freed
    int* local = nullptr;     ///< world ranks of the local group; null: rank i is world rank i
    int* remote = nullptr;    ///< world ranks of the remote group
    char* uid = nullptr;      ///< null if there is no rule for it
    char* name = nullptr;
    Side side = Side::unknown; ///< of this process
    char* meeting = nullptr;   ///< key and value of the .info that tell who the other side is; may be null
    int creations = 0;         ///< communicators made from this one so far
    NumbersByName group_creations;  ///< by the groups of their members
    Neighbors* neighbors = nullptr; ///< once neighbors_of() was called
    int references = 1;             ///< the communicator itself, pending receives, threads that know it

    /// The members that ranks in calls refer to: the remote group of an inter-communicator.
    const int* peers() const { return is_inter ? remote : local; }
    int peer_count() const { return is_inter ? remote_size : local_size; }
};

extern const Comm null_comm;

/// Ranks in calls -> ranks in the trace.
__attribute__((always_inline)) inline int64_t world_rank(const Comm& comm, int rank)
{
    if (rank >= 0) {
        const int* const peers = comm.peers();
        return peers == nullptr || rank >= comm.peer_count() ? rank : peers[rank];
    }
    return local_rank(rank);
}

/// Must be called once, after MPI_Init or MPI_Session_init. @p world is the group that world ranks count in.
/// The communicators WORLD and SELF exist only after MPI_Init: without them @p world_uid is null.
void start_communicators(MPI_Group world, const char* world_uid);

/// The uid of the world that no process has spawned.
inline constexpr const char* first_world = "W";
/// Appends what uids begin with that would be those of other worlds, too; nothing in the first one.
TextBuffer& add_world_prefix(TextBuffer& uid);

/// The communicator of a handle; null_comm for MPI_COMM_NULL. With @p may_ask false only handles that are
/// known are looked up, since a call that failed may have been given anything.
const Comm& find_comm(MPI_Comm handle, bool may_ask);
bool is_known_comm(MPI_Comm handle);
/// Gives it an id and describes it in the .info, if that has not been done.
void describe(const Comm& comm);
/// Remembers the name that the program gave it.
void name_comm(const Comm& comm, const char* name);

/// What MPI says of a communicator, which is not in the table yet. Null if memory is short.
Comm* ask_for_comm(MPI_Comm handle);
/// Puts a communicator that was just made into the table, which owns it from then on. One that is not
/// complete can be asked for nothing yet.
void add_made_comm(MPI_Comm handle, Comm* made, bool is_complete);

/// MPI_Comm_free and MPI_Comm_disconnect, wherever they are called: a communicator that MPI could not free is
/// still known afterwards.
int free_comm(MPI_Comm* comm);
int disconnect_comm(MPI_Comm* comm);

/// Counts something that all members make of a communicator, in the same order; returns its number.
int count_creation(const Comm& parent);
/// The same for what only the members of a group make of it. @p group is equal on all of them; 0 if memory is
/// short.
int64_t count_creation_of_group(const Comm& parent, const char* group);

void add_reference(const Comm& comm);
void drop_reference(const Comm& comm);

/// Ended whenever a communicator was freed.
extern Generations<MPI_Comm> comm_generations;

} // namespace hdtrace::mpi
