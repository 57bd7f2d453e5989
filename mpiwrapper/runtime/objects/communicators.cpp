#include "mpiwrapper/runtime/objects/communicators.h"

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"

#include <new>
#include <stdlib.h>
#include <utility>

namespace hdtrace::mpi {

constinit const Comm null_comm{};
constinit Generations<MPI_Comm> comm_generations;

namespace {

// Longer lists of ranks are written with ranges.
constexpr int long_list = 256;
// Longer uids and names, of communicators made from communicators made from ..., are shortened.
constexpr size_t long_uid = 200;
constexpr size_t long_name = 80;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // for everything below; never held during a call of MPI
constinit ObjectTable<Comm> comms;                 // by handle
constinit NumbersByName
    group_creations; // communicators made of groups without a common parent, by the groups
int64_t next_id = 0;
MPI_Group world_group;
int keyval = MPI_KEYVAL_INVALID;
// What this thread freed last. Other attributes' delete functions may still ask for it, which must not give
// it another life.
__thread MPI_Comm freed;

Comm* new_comm()
{
    void* const memory = malloc(sizeof(Comm));
    return memory != nullptr ? new (memory) Comm() : nullptr;
}

void destroy(Comm* comm)
{
    free(comm->local);
    free(comm->remote);
    free(comm->uid);
    free(comm->name);
    free(comm->neighbors);
    comm->group_creations.free_all();
    free(comm);
}

Comm* lookup(MPI_Comm handle)
{
    const MutexLock lock(mutex);
    return comms.find(handle_bits(handle));
}

int forget(MPI_Comm handle, int, void* value, void*)
{
    freed = handle;
    Comm* known = nullptr;
    {
        const MutexLock lock(mutex);
        // Only if the handle still means what the attribute was set for.
        known = comms.find(handle_bits(handle));
        if (known != value)
            known = nullptr;
        if (known != nullptr)
            comms.remove(known);
        comm_generations.end(handle);
    }
    if (known != nullptr)
        drop_reference(*known);
    return MPI_SUCCESS;
}

// An attribute's delete function is the one way to hear of every end of a communicator.
// Once only: a second value would end the first.
void attach(MPI_Comm handle, Comm& comm)
{
    if (!__atomic_exchange_n(&comm.is_attached, true, __ATOMIC_ACQ_REL))
        real.MPI_Comm_set_attr(handle, keyval, &comm);
}

bool is_identity(const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        if (ranks[i] != i)
            return false;
    return true;
}

int* take_world_ranks(MPI_Group group, int* count)
{
    int* const ranks = world_ranks(group, count);
    real.MPI_Group_free(&group);
    return ranks;
}

int member(const int* ranks, int index)
{
    return ranks == nullptr ? index : ranks[index];
}

Comm* ask(MPI_Comm handle)
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
    const MutexLock lock(mutex);
    Comm* const present = comms.find(handle_bits(handle));
    if (present != nullptr) {
        add_identity(*present, *comm);
        destroy(comm);
        return present;
    }
    comms.add(handle_bits(handle), comm);
    return comm;
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

void add_map(TextBuffer& line, const int* ranks, int count)
{
    for (int local = 0, length = 0; local < count; local += length) {
        length = range_length(ranks, count, local);
        add_range(line, member(ranks, local), length);
        line.text("->");
        add_range(line, local, length);
        line.text(";");
    }
}

void write_line(const Comm& comm, int64_t id)
{
    TextBuffer line;
    line.text("Comm map='");
    add_map(line, comm.local, comm.local_size);
    line.text("' id=").number(id).text(" name='");
    line.info_escaped(comm.name != nullptr ? comm.name : "").text("'");
    if (comm.uid != nullptr)
        line.text(" uid='").info_escaped(comm.uid).text("'");
    if (comm.is_inter) {
        line.text(" remote='");
        add_map(line, comm.remote, comm.remote_size);
        line.text("'");
    }
    write_info(line.text("\n"));
}

// FNV-1a with 128 bits, as hexadecimal digits. Digests of libraries need memory, and end the program where
// there is none.
class Digest {
  public:
    explicit Digest(const TextBuffer& text)
    {
        using Number = unsigned __int128;
        constexpr Number prime = (Number{1} << 88) + 0x13B;
        Number hash = (Number{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
        for (size_t i = 0; i < text.size(); ++i)
            hash = (hash ^ static_cast<unsigned char>(text.data()[i])) * prime;
        for (size_t i = 0; i < digits; ++i, hash <<= 4)
            m_text[i] = "0123456789abcdef"[static_cast<unsigned>(hash >> 124)];
    }
    const char* text() const { return m_text; }

  private:
    static constexpr size_t digits = 32;
    char m_text[digits + 1] = {};
};

char* finish_uid(TextBuffer& uid)
{
    if (uid.bad())
        return nullptr;
    if (uid.size() <= long_uid)
        return strdup(uid.c_string());
    TextBuffer short_uid;
    return strdup(short_uid.text("#").string(Digest(uid).text()).c_string());
}

int first_member(const Comm& comm)
{
    const int local = comm.local_size > 0 ? member(comm.local, 0) : no_process;
    if (!comm.is_inter || comm.remote_size == 0)
        return local;
    const int remote = member(comm.remote, 0);
    return remote < local ? remote : local;
}

void set_derived_name(Comm& made, const Comm& parent, const char* word, int64_t number)
{
    const char* from = parent.name != nullptr ? parent.name : "";
    TextBuffer name;
    const size_t length = strlen(from);
    if (length > long_name) {
        from += length - long_name;
        while ((static_cast<unsigned char>(*from) & 0xC0) == 0x80) // not into a UTF-8 character
            ++from;
        name.text("...");
    }
    name.string(from);
    if (*from != '\0')
        name.text(" ");
    made.name = strdup(name.string(word).text(" ").number(number).c_string());
}

// A communicator that was freed before it could be attached, and whose handle has come again.
void forget_unattached(MPI_Comm handle)
{
    Comm* const comm = lookup(handle);
    if (comm != nullptr && !__atomic_load_n(&comm->is_attached, __ATOMIC_RELAXED))
        forget(handle, MPI_KEYVAL_INVALID, comm, nullptr);
}

// What all rules have in common: the new communicator is known, attached and gets its uid.
void adopt(MPI_Comm handle, Comm* made, TextBuffer& uid, const Comm& parent, const char* word, int64_t number,
           bool complete)
{
    if (made == nullptr)
        return;
    if (freed == handle)
        freed = MPI_COMM_NULL;
    if (uid.size() > 0)
        made->uid = finish_uid(uid);
    set_derived_name(*made, parent, word, number);
    forget_unattached(handle);
    if (insert(handle, made) == made && complete)
        attach(handle, *made);
}

// How often it was counted; 0 if memory is short. Whoever calls it holds the mutex.
int64_t count_in(NumbersByName& counts, const char* name)
{
    int64_t* const count = counts.find_or_add(name, 0);
    return count != nullptr ? ++*count : 0;
}

// For groups without a common parent.
int64_t count_group_creation(const char* name)
{
    const MutexLock lock(mutex);
    return count_in(group_creations, name);
}

void add_members(TextBuffer& text, const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        text.number(member(ranks, i)).text(",");
}

void uid_from_parent(TextBuffer& uid, const Comm& parent, int number, int first)
{
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/").number(number).text("@").number(first);
}

bool is_other_world(const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        if (member(ranks, i) == other_world)
            return true;
    return false;
}

// The two sides of an inter-communicator may have nothing in common but that they know each other.
void adopt_from_two_groups(MPI_Comm handle, Comm* made, const Comm& parent, const char* word)
{
    // Both sides must see the two groups in the same order.
    TextBuffer groups;
    const bool is_local_first = member(made->local, 0) < member(made->remote, 0);
    add_members(groups, is_local_first ? made->local : made->remote,
                is_local_first ? made->local_size : made->remote_size);
    groups.text("|");
    add_members(groups, is_local_first ? made->remote : made->local,
                is_local_first ? made->remote_size : made->local_size);
    const Digest digest(groups);
    const int64_t number = count_group_creation(digest.text());
    TextBuffer uid;
    uid.text("I").string(digest.text()).text(".").number(number).text("@").number(first_member(*made));
    adopt(handle, made, uid, parent, word, number, true);
}

void add_world(MPI_Comm handle, const char* name, const char* uid)
{
    Comm* const comm = ask(handle);
    if (comm == nullptr)
        return;
    comm->name = strdup(name);
    comm->uid = strdup(uid);
    comm->is_attached = true; // it is never freed
    insert(handle, comm);
}

} // namespace

void start_communicators(MPI_Group world, bool has_world_communicator)
{
    world_group = world;
    real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr);
    if (!has_world_communicator)
        return;
    add_world(MPI_COMM_WORLD, "WORLD", world_uid());
    int rank = 0;
    real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    TextBuffer self_uid;
    add_world(MPI_COMM_SELF, "SELF", self_uid.text("S").number(rank).c_string());
    describe(find_comm(MPI_COMM_WORLD, true));
}

const Comm& find_comm(MPI_Comm handle, bool may_ask)
{
    if (handle == MPI_COMM_NULL)
        return null_comm;
    Comm* comm = lookup(handle);
    if (comm == nullptr) {
        // Made where we could not see it, e.g. inside the MPI library.
        Comm* const asked = may_ask && handle != freed ? ask(handle) : nullptr;
        if (asked == nullptr)
            return null_comm;
        comm = insert(handle, asked);
    }
    if (may_ask && !__atomic_load_n(&comm->is_attached, __ATOMIC_RELAXED))
        attach(handle, *comm);
    return *comm;
}

void describe(const Comm& comm)
{
    if (&comm == &null_comm || __atomic_load_n(&comm.id, __ATOMIC_ACQUIRE) >= 0)
        return;
    const MutexLock lock(mutex);
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
        const MutexLock lock(mutex);
        Comm& named = const_cast<Comm&>(comm);
        free(named.name);
        named.name = strdup(name);
    }
    TextBuffer line;
    write_info(line.text("CommName id=").number(comm.id).text(" name='").info_escaped(name).text("'\n"));
}

int count_creation(const Comm& parent)
{
    if (&parent == &null_comm)
        return 0;
    const MutexLock lock(mutex);
    return ++const_cast<Comm&>(parent).creations;
}

int* world_ranks(MPI_Group group, int* count)
{
    real.MPI_Group_size(group, count);
    const size_t bytes = static_cast<size_t>(*count) * sizeof(int);
    int* const ranks = static_cast<int*>(malloc(bytes + 1));
    int* const world = static_cast<int*>(malloc(bytes + 1));
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
    free(ranks);
    if (world != nullptr && !is_identity(world, *count))
        return world;
    free(world);
    return nullptr;
}

void created_from_parent(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    if (made_handle == MPI_COMM_NULL)
        return;
    Comm* const made = ask(made_handle);
    TextBuffer uid;
    if (made != nullptr)
        uid_from_parent(uid, parent, number, first_member(*made));
    adopt(made_handle, made, uid, parent, word, number, true);
}

void created_from_parent_later(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    Comm* const made = ask(parent_handle);
    TextBuffer uid;
    if (made != nullptr)
        uid_from_parent(uid, parent, number, first_member(*made));
    adopt(made_handle, made, uid, parent, word, number, false);
}

void created_from_group(MPI_Comm parent_handle, int tag, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    const Comm& parent = find_comm(parent_handle, true);
    Comm* const made = ask(made_handle);
    if (made == nullptr)
        return;
    TextBuffer members, key, uid;
    add_members(members, made->local, made->local_size);
    key.number(tag).text(".").string(Digest(members).text());
    int64_t number = 0;
    if (&parent != &null_comm) {
        const MutexLock lock(mutex);
        number = count_in(const_cast<Comm&>(parent).group_creations, key.c_string());
    }
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/g").string(key.c_string()).text(".").number(number);
    adopt(made_handle, made, uid, parent, word, number, true);
}

void created_from_tagged_group(const char* tag, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    Comm* const made = ask(made_handle);
    if (made == nullptr)
        return;
    TextBuffer key, uid;
    key.string(tag != nullptr ? tag : "").text("|");
    add_members(key, made->local, made->local_size);
    const Digest digest(key);
    const int64_t number = count_group_creation(digest.text());
    uid.text("G").string(digest.text()).text(".").number(number);
    adopt(made_handle, made, uid, null_comm, word, number, true);
}

void created_from_two_groups(MPI_Comm local_handle, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    if (Comm* const made = ask(made_handle))
        adopt_from_two_groups(made_handle, made, find_comm(local_handle, true), word);
}

void created_from_two_worlds(MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL || lookup(made_handle) != nullptr)
        return;
    Comm* const made = ask(made_handle);
    if (made == nullptr)
        return;
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    if (!is_other_world(made->remote, made->remote_size)) {
        adopt_from_two_groups(made_handle, made, world, word);
        return;
    }
    const int64_t number = count_group_creation(word);
    TextBuffer no_uid;
    adopt(made_handle, made, no_uid, world, word, number, true);
}

void add_ranks(TextBuffer& text, const int* ranks, int count)
{
    for (int i = 0, length = 0; i < count; i += length) {
        length = range_length(ranks, count, i);
        add_range(text, member(ranks, i), length);
        text.text(";");
    }
}

const Neighbors& neighbors_of(MPI_Comm handle, const Comm& comm)
{
    static const Neighbors nobody = {};
    if (&comm == &null_comm)
        return nobody;
    if (comm.neighbors != nullptr)
        return *comm.neighbors;
    int topology = MPI_UNDEFINED, sources = 0, destinations = 0, dimensions = 0, weighted = 0;
    real.MPI_Topo_test(handle, &topology);
    if (topology == MPI_CART) {
        real.MPI_Cartdim_get(handle, &dimensions);
        sources = destinations = 2 * dimensions;
    } else if (topology == MPI_GRAPH) {
        real.MPI_Graph_neighbors_count(handle, comm.rank, &sources);
        destinations = sources;
    } else if (topology == MPI_DIST_GRAPH) {
        real.MPI_Dist_graph_neighbors_count(handle, &sources, &destinations, &weighted);
    }
    const size_t count = static_cast<size_t>(sources) + static_cast<size_t>(destinations);
    // One block of memory; the weights are asked for because MPI has no way to leave them out everywhere.
    Neighbors* const found = static_cast<Neighbors*>(calloc(1, sizeof(Neighbors) + 2 * count * sizeof(int)));
    if (found == nullptr)
        return nobody;
    *found = {sources, destinations, reinterpret_cast<int*>(found + 1),
              reinterpret_cast<int*>(found + 1) + sources};
    int* const weights = found->destinations + destinations;
    if (topology == MPI_CART) {
        for (int i = 0; i < dimensions; ++i)
            real.MPI_Cart_shift(handle, i, 1, &found->sources[2 * i], &found->sources[2 * i + 1]);
        memcpy(found->destinations, found->sources, static_cast<size_t>(sources) * sizeof(int));
    } else if (topology == MPI_GRAPH) {
        real.MPI_Graph_neighbors(handle, comm.rank, sources, found->sources);
        memcpy(found->destinations, found->sources, static_cast<size_t>(sources) * sizeof(int));
    } else if (topology == MPI_DIST_GRAPH) {
        real.MPI_Dist_graph_neighbors(handle, sources, found->sources, weights, destinations,
                                      found->destinations, weights + sources);
    }
    for (size_t i = 0; i < count; ++i)
        found->sources[i] = static_cast<int>(world_rank(comm, found->sources[i]));
    const MutexLock lock(mutex);
    if (comm.neighbors != nullptr)
        free(found);
    else
        const_cast<Comm&>(comm).neighbors = found;
    return *comm.neighbors;
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
