#include "mpiwrapper/runtime/objects/communicators.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/recording/thread.h"

#include <new>
#include <stdlib.h>
#include <string.h>
#include <utility>

namespace hdtrace::mpi {

constinit const Comm null_comm{};
constinit Generations<MPI_Comm> comm_generations;

namespace {

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for everything below; never held during a call of MPI
constinit ObjectTable<Comm> comms;                 // by handle
int64_t next_id = 0;
int keyval = MPI_KEYVAL_INVALID;
const char* world_prefix = "";
// What this thread freed last. Other attributes' delete functions may still ask for it, which must not add it
// to the table again.
__thread MPI_Comm freed;

Comm* new_comm()
{
    void* const memory = own_malloc(sizeof(Comm));
    return memory != nullptr ? new (memory) Comm() : nullptr;
}

void destroy(Comm* comm)
{
    own_free(comm->local);
    own_free(comm->remote);
    own_free(comm->uid);
    own_free(comm->name);
    own_free(comm->meeting);
    own_free(comm->neighbors);
    comm->group_creations.free_all();
    own_free(comm);
}

Comm* lookup(MPI_Comm handle)
{
    const MutexLock look(mutex);
    return comms.find(handle_bits(handle));
}

int forget(MPI_Comm handle, int, void* value, void*)
{
    freed = handle;
    Comm* known = nullptr;
    {
        const Lock lock(mutex);
        if (!lock.held())
            return MPI_SUCCESS;
        // Only if the handle still means what the attribute was set for.
        known = comms.find(handle_bits(handle));
        if (known != value)
            known = nullptr;
        if (known != nullptr)
            comms.remove(known);
        comm_generations.end(handle);
    }
    if (known != nullptr) {
        while (current_thread != nullptr && current_thread->comms.remove(handle, known))
            drop_reference(*known); // other threads keep it until they know others
        drop_reference(*known);
    }
    return MPI_SUCCESS;
}

// An attribute's delete function is the one way to hear of every end of a communicator.
// Once only: a second value would end the first.
void attach(MPI_Comm handle, Comm& comm)
{
    if (!__atomic_exchange_n(&comm.is_attached, true, __ATOMIC_ACQ_REL))
        real.MPI_Comm_set_attr(handle, keyval, &comm);
}

int* take_world_ranks(MPI_Group group, int* count)
{
    int* const ranks = world_ranks(group, count);
    number_others(ranks, *count);
    real.MPI_Group_free(&group);
    return ranks;
}

// A call that the MPI library made inside another one may have known less of the communicator than the outer
// call does.
void add_identity(Comm& present, Comm& comm)
{
    if (present.uid != nullptr || present.id >= 0 || comm.uid == nullptr)
        return;
    std::swap(present.uid, comm.uid);
    std::swap(present.name, comm.name);
}

// Puts a communicator into the table, unless somebody else did; returns what is there.
Comm* insert(MPI_Comm handle, Comm* comm)
{
    const Lock lock(mutex);
    if (!lock.held())
        return comm;
    Comm* const present = comms.find(handle_bits(handle));
    if (present != nullptr) {
        add_identity(*present, *comm);
        destroy(comm);
        return present;
    }
    comms.add(handle_bits(handle), comm);
    return comm;
}

const char* side_name(Side side)
{
    return side == Side::first ? "first" : side == Side::second ? "second" : "own";
}

void write_line(const Comm& comm, int64_t id)
{
    TextBuffer line;
    line.text("Comm map='");
    add_rank_map(line, comm.local, comm.local_size);
    line.text("' id=").number(id).text(" name='");
    line.info_escaped(comm.name != nullptr ? comm.name : "").text("'");
    if (comm.uid != nullptr)
        line.text(" uid='").info_escaped(comm.uid).text("'");
    if (comm.is_inter) {
        line.text(" remote='");
        add_rank_map(line, comm.remote, comm.remote_size);
        line.text("'");
        if (comm.side != Side::unknown)
            line.text(" side='").string(side_name(comm.side)).text("'");
    }
    if (comm.meeting != nullptr)
        line.text(" ").string(comm.meeting);
    write_info(line.text("\n"));
}

// A communicator that was freed before it could be attached, and whose handle has come again.
void forget_unattached(MPI_Comm handle)
{
    Comm* const comm = lookup(handle);
    if (comm != nullptr && !__atomic_load_n(&comm->is_attached, __ATOMIC_RELAXED))
        forget(handle, MPI_KEYVAL_INVALID, comm, nullptr);
}

// MPI could not free it, though it has perhaps told us of the end: its attributes go one by one, and another
// one's delete function may have refused.
void revive(MPI_Comm handle, Comm& comm)
{
    if (freed == handle)
        freed = MPI_COMM_NULL;
    if (lookup(handle) != nullptr)
        return;
    comm.is_attached = false;
    {
        const Lock lock(mutex);
        if (!lock.held())
            return;
        add_reference(comm);
        comms.add(handle_bits(handle), &comm);
    }
    attach(handle, comm);
}

int free_if_possible(MPI_Comm* comm, int (*real_free)(MPI_Comm*))
{
    const MPI_Comm handle = comm != nullptr ? *comm : MPI_COMM_NULL;
    Comm* const known = handle != MPI_COMM_NULL ? lookup(handle) : nullptr;
    if (known == nullptr)
        return real_free(comm);
    add_reference(*known);
    const int rc = real_free(comm);
    if (*comm == handle) // Open MPI's MPI_Comm_disconnect may call that a success
        revive(handle, *known);
    drop_reference(*known);
    return rc;
}

void add_predefined(MPI_Comm handle, const char* name, const char* uid)
{
    Comm* const comm = ask_for_comm(handle);
    if (comm == nullptr)
        return;
    comm->name = own_strdup(name);
    comm->uid = own_strdup(uid);
    comm->is_attached = true; // it is never freed
    insert(handle, comm);
}

} // namespace

void start_communicators(MPI_Group world, const char* world_uid)
{
    start_ranks(world);
    real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr);
    if (world_uid == nullptr)
        return;
    if (strcmp(world_uid, first_world) != 0)
        world_prefix = world_uid;
    add_predefined(MPI_COMM_WORLD, "WORLD", world_uid);
    int rank = 0;
    real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    TextBuffer self_uid;
    add_predefined(MPI_COMM_SELF, "SELF", add_world_prefix(self_uid).text("S").number(rank).c_string());
    describe(find_comm(MPI_COMM_WORLD, true));
}

TextBuffer& add_world_prefix(TextBuffer& uid)
{
    return uid.string(world_prefix);
}

const Comm& find_comm(MPI_Comm handle, bool may_ask)
{
    if (handle == MPI_COMM_NULL)
        return null_comm;
    Comm* comm = lookup(handle);
    if (comm == nullptr) {
        // Made where we could not see it, e.g. inside the MPI library.
        Comm* const asked = may_ask && handle != freed ? ask_for_comm(handle) : nullptr;
        if (asked == nullptr)
            return null_comm;
        comm = insert(handle, asked);
    }
    if (may_ask && !__atomic_load_n(&comm->is_attached, __ATOMIC_RELAXED))
        attach(handle, *comm);
    return *comm;
}

bool is_known_comm(MPI_Comm handle)
{
    return lookup(handle) != nullptr;
}

void describe(const Comm& comm)
{
    if (&comm == &null_comm || __atomic_load_n(&comm.id, __ATOMIC_ACQUIRE) >= 0)
        return;
    const Lock lock(mutex);
    if (comm.id >= 0)
        return;
    write_line(comm, next_id);
    __atomic_store_n(&const_cast<Comm&>(comm).id, next_id++, __ATOMIC_RELEASE);
}

void name_comm(const Comm& comm, const char* name)
{
    if (comm.id < 0 || name == nullptr)
        return;
    {
        const Lock lock(mutex);
        Comm& named = const_cast<Comm&>(comm);
        own_free(named.name);
        named.name = own_strdup(name);
    }
    TextBuffer line;
    write_info(line.text("CommName id=").number(comm.id).text(" name='").info_escaped(name).text("'\n"));
}

Comm* ask_for_comm(MPI_Comm handle)
{
    Comm* const comm = new_comm();
    if (comm == nullptr)
        return nullptr;
    MPI_Group group;
    real.MPI_Comm_rank(handle, &comm->rank);
    real.MPI_Comm_group(handle, &group);
    comm->local = take_world_ranks(group, &comm->local_size);
    int is_inter = 0;
    real.MPI_Comm_test_inter(handle, &is_inter);
    comm->is_inter = is_inter != 0;
    if (comm->is_inter) {
        real.MPI_Comm_remote_group(handle, &group);
        comm->remote = take_world_ranks(group, &comm->remote_size);
    }
    return comm;
}

void add_made_comm(MPI_Comm handle, Comm* made, bool is_complete)
{
    if (freed == handle)
        freed = MPI_COMM_NULL;
    forget_unattached(handle);
    if (insert(handle, made) == made && is_complete)
        attach(handle, *made);
}

int free_comm(MPI_Comm* comm)
{
    return free_if_possible(comm, real.MPI_Comm_free);
}

int disconnect_comm(MPI_Comm* comm)
{
    return free_if_possible(comm, real.MPI_Comm_disconnect);
}

int count_creation(const Comm& parent)
{
    if (&parent == &null_comm)
        return 0;
    const Lock lock(mutex);
    return ++const_cast<Comm&>(parent).creations;
}

int64_t count_creation_of_group(const Comm& parent, const char* group)
{
    if (&parent == &null_comm)
        return 0;
    const Lock lock(mutex);
    return const_cast<Comm&>(parent).group_creations.count(group);
}

void add_reference(const Comm& comm)
{
    if (&comm != &null_comm)
        __atomic_add_fetch(&const_cast<Comm&>(comm).references, 1, __ATOMIC_RELAXED);
}

void drop_reference(const Comm& comm)
{
    if (&comm != &null_comm &&
        __atomic_sub_fetch(&const_cast<Comm&>(comm).references, 1, __ATOMIC_ACQ_REL) == 0)
        destroy(const_cast<Comm*>(&comm));
}

} // namespace hdtrace::mpi
