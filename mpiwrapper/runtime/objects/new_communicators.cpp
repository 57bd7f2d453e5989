#include "mpiwrapper/runtime/objects/new_communicators.h"

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/lock.h"

#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

// Longer uids and names, of communicators made from communicators made from ..., are shortened.
constexpr size_t long_uid = 200;
constexpr size_t long_name = 80;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // for what follows; never held during a call of MPI
constinit NumbersByName creations_without_parent;  // by the groups that made them

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

int64_t count_creation_without_parent(const char* group)
{
    const MutexLock lock(mutex);
    return creations_without_parent.count(group);
}

char* finish_uid(TextBuffer& uid)
{
    if (uid.bad())
        return nullptr;
    if (uid.size() <= long_uid)
        return strdup(uid.c_string());
    TextBuffer short_uid;
    return strdup(short_uid.text("#").string(Digest(uid).text()).c_string());
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

// What all rules have in common: the new communicator gets its uid and its name, and becomes known.
void add(MPI_Comm handle, Comm* made, TextBuffer& uid, const Comm& parent, const char* word, int64_t number,
         bool is_complete = true)
{
    if (made == nullptr)
        return;
    if (uid.size() > 0)
        made->uid = finish_uid(uid);
    set_derived_name(*made, parent, word, number);
    add_made_comm(handle, made, is_complete);
}

void add_members(TextBuffer& text, const int* ranks, int count)
{
    for (int i = 0; i < count; ++i)
        text.number(member(ranks, i)).text(",");
}

// Tells apart the communicators that one call makes, e.g. MPI_Comm_split.
int first_member(const Comm& comm)
{
    const int local = comm.local_size > 0 ? member(comm.local, 0) : no_process;
    if (!comm.is_inter || comm.remote_size == 0)
        return local;
    const int remote = member(comm.remote, 0);
    return remote < local ? remote : local;
}

// Members of two worlds meet in it.
bool is_mixed(const Comm& comm)
{
    return has_other_world(comm.local, comm.local_size) || has_other_world(comm.remote, comm.remote_size);
}

// The same for members of two worlds, who cannot name each other: by a rank in the parent.
int first_member_in(MPI_Comm parent, MPI_Comm made)
{
    MPI_Group parent_group, group;
    const int first = 0;
    int rank = 0;
    real.MPI_Comm_group(parent, &parent_group);
    real.MPI_Comm_group(made, &group);
    real.MPI_Group_translate_ranks(group, 1, &first, parent_group, &rank);
    real.MPI_Group_free(&group);
    real.MPI_Group_free(&parent_group);
    return rank;
}

void uid_from_parent(TextBuffer& uid, const Comm& parent, int number, int first)
{
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/").number(number).text("@").number(first);
}

void uid_from_mixed_parent(TextBuffer& uid, MPI_Comm parent_handle, MPI_Comm made, const Comm& parent,
                           int number, const char* word)
{
    const bool makes_one = strcmp(word, "merge") == 0 || strcmp(word, "dup") == 0;
    if (parent.uid == nullptr || (parent.is_inter && !makes_one))
        return;
    uid.string(parent.uid).text("/").number(number);
    if (!makes_one)
        uid.text("@p").number(first_member_in(parent_handle, made));
}

// The two sides of an inter-communicator may have nothing in common but that they know each other.
void add_from_two_groups(MPI_Comm handle, Comm* made, const Comm& parent, const char* word)
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
    const int64_t number = count_creation_without_parent(digest.text());
    TextBuffer uid;
    uid.text("I").string(digest.text()).text(".").number(number).text("@").number(first_member(*made));
    add(handle, made, uid, parent, word, number);
}

// What the parents call the communicator that is between them and us, if they have told it.
void uid_from_parents(TextBuffer& uid, MPI_Comm handle)
{
    const char* const told = getenv(parent_variable);
    MPI_Comm parent = MPI_COMM_NULL;
    if (told != nullptr && real.MPI_Comm_get_parent(&parent) == MPI_SUCCESS && handle == parent)
        uid.string(told);
}

} // namespace

void created_from_parent(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    if (made_handle == MPI_COMM_NULL)
        return;
    Comm* const made = ask_for_comm(made_handle);
    TextBuffer uid;
    if (made != nullptr && is_mixed(parent))
        uid_from_mixed_parent(uid, parent_handle, made_handle, parent, number, word);
    else if (made != nullptr)
        uid_from_parent(uid, parent, number, first_member(*made));
    add(made_handle, made, uid, parent, word, number);
}

void created_from_parent_later(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    Comm* const made = ask_for_comm(parent_handle);
    TextBuffer uid;
    if (made != nullptr)
        uid_from_parent(uid, parent, number, first_member(*made));
    constexpr bool is_complete = false;
    add(made_handle, made, uid, parent, word, number, is_complete);
}

void created_from_group(MPI_Comm parent_handle, int tag, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    const Comm& parent = find_comm(parent_handle, true);
    Comm* const made = ask_for_comm(made_handle);
    if (made == nullptr)
        return;
    TextBuffer members, key, uid;
    add_members(members, made->local, made->local_size);
    key.number(tag).text(".").string(Digest(members).text());
    const int64_t number = count_creation_of_group(parent, key.c_string());
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/g").string(key.c_string()).text(".").number(number);
    add(made_handle, made, uid, parent, word, number);
}

void created_from_tagged_group(const char* tag, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    Comm* const made = ask_for_comm(made_handle);
    if (made == nullptr)
        return;
    TextBuffer key, uid;
    key.string(tag != nullptr ? tag : "").text("|");
    add_members(key, made->local, made->local_size);
    const Digest digest(key);
    const int64_t number = count_creation_without_parent(digest.text());
    uid.text("G").string(digest.text()).text(".").number(number);
    add(made_handle, made, uid, null_comm, word, number);
}

void created_from_two_groups(MPI_Comm local_handle, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    if (Comm* const made = ask_for_comm(made_handle))
        add_from_two_groups(made_handle, made, find_comm(local_handle, true), word);
}

void created_from_two_worlds(MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL || is_known_comm(made_handle))
        return;
    Comm* const made = ask_for_comm(made_handle);
    if (made == nullptr)
        return;
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    if (!has_other_world(made->remote, made->remote_size)) {
        add_from_two_groups(made_handle, made, world, word);
        return;
    }
    const int64_t number = count_creation_without_parent(word);
    TextBuffer uid;
    uid_from_parents(uid, made_handle);
    add(made_handle, made, uid, world, word, number);
}

void add_uid_of_children(TextBuffer& uid, const Comm& parent, int number)
{
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    if (parent.uid != nullptr && world.uid != nullptr)
        uid.string(world.uid).text(":").string(parent.uid).text("/").number(number).text("@children");
}

void created_by_spawn(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    TextBuffer uid;
    add_uid_of_children(uid, parent, number);
    add(made_handle, ask_for_comm(made_handle), uid, parent, word, number);
}

} // namespace hdtrace::mpi
