#include "mpiwrapper/runtime/objects/new_communicators.h"

#include "hdtrace/settings/environment.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/communicators.h"

#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

// Longer uids and names, of communicators made from communicators made from ..., are shortened.
constexpr size_t long_uid = 200;
constexpr size_t long_name = 80;

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for what follows; never held during a call of MPI
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
    const Lock lock(mutex);
    return creations_without_parent.count(group);
}

char* finish_uid(TextBuffer& uid)
{
    if (uid.bad())
        return nullptr;
    if (uid.size() <= long_uid)
        return own_strdup(uid.c_string());
    TextBuffer short_uid;
    return own_strdup(short_uid.text("#").string(Digest(uid).text()).c_string());
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
    made.name = own_strdup(name.string(word).text(" ").number(number).c_string());
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

// Whether all members agree on which side is which.
bool knows_sides(const Comm& comm)
{
    return comm.side == Side::first || comm.side == Side::second;
}

// Members of two worlds cannot name each other by ranks in the world, but by those in the parent. Appends
// those of the first @p count members of one side, separated by commas.
void add_ranks_in_parent(TextBuffer& text, MPI_Comm parent, MPI_Comm made, int count,
                         decltype(real.MPI_Comm_group) group_of)
{
    MPI_Group parent_group, group;
    group_of(parent, &parent_group);
    group_of(made, &group);
    for (int i = 0; i < count; ++i) {
        int rank = 0;
        real.MPI_Group_translate_ranks(group, 1, &i, parent_group, &rank);
        if (i > 0)
            text.text(",");
        text.number(rank);
    }
    real.MPI_Group_free(&group);
    real.MPI_Group_free(&parent_group);
}

// What tells it from the others that the same call makes of an inter-communicator: a member of each side.
void add_first_members(TextBuffer& uid, MPI_Comm parent_handle, MPI_Comm made, const Comm& parent)
{
    const auto local = real.MPI_Comm_group, remote = real.MPI_Comm_remote_group;
    const bool is_first = parent.side == Side::first;
    add_ranks_in_parent(uid, parent_handle, made, 1, !parent.is_inter || is_first ? local : remote);
    if (parent.is_inter)
        add_ranks_in_parent(uid.text(","), parent_handle, made, 1, is_first ? remote : local);
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
    if (parent.uid == nullptr || (parent.is_inter && !makes_one && !knows_sides(parent)))
        return;
    uid.string(parent.uid).text("/").number(number);
    if (!makes_one)
        add_first_members(uid.text("@p"), parent_handle, made, parent);
}

// Of an inter-communicator whose sides have nothing in common that all members know: each side has a uid of
// its own. The two that met may know more, from which readers learn that it is one.
int64_t uid_of_side(TextBuffer& uid, const Comm& parent, const char* word)
{
    const int64_t number = count_creation_of_group(parent, word);
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/").string(word).number(number);
    return number;
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
    add_world_prefix(uid)
        .text("I")
        .string(digest.text())
        .text(".")
        .number(number)
        .text("@")
        .number(first_member(*made));
    add(handle, made, uid, parent, word, number);
}

// "accepts='PORT'"
char* meeting_text(const char* key, TextBuffer& value)
{
    TextBuffer text;
    text.string(key).text("='").info_escaped(value.c_string()).text("'");
    return text.bad() ? nullptr : own_strdup(text.c_string());
}

// What the two leaders of an inter-communicator call their meeting: the communicator in which they know each
// other, their ranks there, and how often they have met with this tag.
char* meeting_of_leaders(const Comm& peer, int remote_leader, int tag)
{
    if (peer.uid == nullptr || (peer.is_inter && !knows_sides(peer)))
        return nullptr;
    const bool is_first = peer.is_inter ? peer.side == Side::first : peer.rank < remote_leader;
    TextBuffer ranks, text;
    ranks.number(is_first ? peer.rank : remote_leader).text(",");
    ranks.number(is_first ? remote_leader : peer.rank).text(" tag ").number(tag);
    const int64_t number = count_creation_of_group(peer, ranks.c_string());
    text.string(peer.uid).text(" ").string(ranks.c_string()).text(" ").number(number);
    return meeting_text("meets", text);
}

void add_side(MPI_Comm handle, Comm* made, const Comm& parent, const char* word)
{
    if (made->side == Side::unknown)
        made->side = Side::own;
    TextBuffer uid;
    const int64_t number = uid_of_side(uid, parent, word);
    add(handle, made, uid, parent, word, number);
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
    if (made != nullptr && made->is_inter)
        made->side = parent.side;
    add(made_handle, made, uid, parent, word, number);
}

void created_from_parent_later(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    Comm* const made = ask_for_comm(parent_handle);
    TextBuffer uid;
    if (made != nullptr && is_mixed(parent))
        uid_from_mixed_parent(uid, parent_handle, parent_handle, parent, number, word);
    else if (made != nullptr)
        uid_from_parent(uid, parent, number, first_member(*made));
    if (made != nullptr)
        made->side = parent.side;
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
    if (is_mixed(parent))
        add_ranks_in_parent(members, parent_handle, made_handle, made->local_size, real.MPI_Comm_group);
    else
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
    if (!is_mixed(*made))
        add_world_prefix(uid).text("G").string(digest.text()).text(".").number(number);
    add(made_handle, made, uid, null_comm, word, number);
}

void created_from_two_groups(MPI_Comm local_handle, MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL)
        return;
    Comm* const made = ask_for_comm(made_handle);
    if (made != nullptr && !is_mixed(*made))
        add_from_two_groups(made_handle, made, find_comm(local_handle, true), word);
    else if (made != nullptr)
        add_side(made_handle, made, find_comm(local_handle, true), word);
}

void created_by_leaders(MPI_Comm local_handle, int local_leader, MPI_Comm peer_handle, int remote_leader,
                        int tag, MPI_Comm made_handle, const char* word)
{
    Comm* const made = made_handle != MPI_COMM_NULL ? ask_for_comm(made_handle) : nullptr;
    if (made == nullptr)
        return;
    const Comm& local = find_comm(local_handle, true);
    if (!is_mixed(*made)) {
        add_from_two_groups(made_handle, made, local, word);
        return;
    }
    if (local.rank == local_leader)
        made->meeting = meeting_of_leaders(find_comm(peer_handle, true), remote_leader, tag);
    add_side(made_handle, made, local, word);
}

void created_through_port(MPI_Comm parent_handle, int root, const char* port, MPI_Comm made_handle,
                          const char* word)
{
    Comm* const made = made_handle != MPI_COMM_NULL ? ask_for_comm(made_handle) : nullptr;
    if (made == nullptr)
        return;
    const Comm& parent = find_comm(parent_handle, true);
    if (!is_mixed(*made)) {
        add_from_two_groups(made_handle, made, find_comm(MPI_COMM_WORLD, true), word);
        return;
    }
    const bool accepts = strcmp(word, "accept") == 0;
    TextBuffer name;
    if (parent.rank == root)
        made->meeting = meeting_text(accepts ? "accepts" : "connects", name.string(port));
    made->side = accepts ? Side::first : Side::second;
    add_side(made_handle, made, parent, word);
}

void created_by_join(MPI_Comm made_handle, const char* word)
{
    Comm* const made = made_handle != MPI_COMM_NULL ? ask_for_comm(made_handle) : nullptr;
    if (made != nullptr && !is_mixed(*made))
        add_from_two_groups(made_handle, made, find_comm(MPI_COMM_WORLD, true), word);
    else if (made != nullptr)
        add_side(made_handle, made, find_comm(MPI_COMM_SELF, true), word);
}

void created_by_parents(MPI_Comm made_handle, const char* word)
{
    if (made_handle == MPI_COMM_NULL || is_known_comm(made_handle))
        return;
    Comm* const made = ask_for_comm(made_handle);
    if (made == nullptr)
        return;
    const Comm& world = find_comm(MPI_COMM_WORLD, true);
    made->side = Side::second;
    const char* const told = getenv(parent_variable);
    TextBuffer uid;
    if (told == nullptr)
        add_side(made_handle, made, world, word);
    else
        add(made_handle, made, uid.string(told), world, word, 1);
}

void add_uid_of_children(TextBuffer& uid, const Comm& parent, int number)
{
    if (parent.uid != nullptr)
        uid.string(parent.uid).text("/").number(number).text("@children");
}

void created_by_spawn(MPI_Comm parent_handle, MPI_Comm made_handle, const char* word)
{
    const Comm& parent = find_comm(parent_handle, true);
    const int number = count_creation(parent);
    TextBuffer uid;
    add_uid_of_children(uid, parent, number);
    Comm* const made = ask_for_comm(made_handle);
    if (made != nullptr)
        made->side = Side::first;
    add(made_handle, made, uid, parent, word, number);
}

} // namespace hdtrace::mpi
