#include "mpiwrapper/runtime/objects/groups.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/objects/ranks.h"

namespace hdtrace::mpi {

namespace {

struct KnownGroup : TableEntry<KnownGroup> {
    int handles; // of equal value that the program has
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for the table
constinit ObjectTable<KnownGroup> groups;          // by handle

// Those that were got unseen, while recording was paused for example, are missing: never too many are known.
void drop_group(MPI_Group group)
{
    const Lock lock(mutex);
    KnownGroup* const known = lock.held() ? groups.find(handle_bits(group)) : nullptr;
    if (known == nullptr || --known->handles > 0)
        return;
    groups.remove(known);
    own_free(known);
}

bool has_group(MPI_Group group)
{
    if (group == MPI_GROUP_EMPTY)
        return true;
    const MutexLock look(mutex);
    return groups.find(handle_bits(group)) != nullptr;
}

} // namespace

void got_group(MPI_Group group)
{
    const Lock lock(mutex);
    if (!lock.held())
        return;
    if (KnownGroup* const known = groups.find(handle_bits(group))) {
        ++known->handles;
        return;
    }
    KnownGroup* const fresh = static_cast<KnownGroup*>(own_malloc(sizeof(KnownGroup)));
    if (fresh == nullptr)
        return;
    fresh->handles = 1;
    groups.add(handle_bits(group), fresh);
}

int free_group(MPI_Group* group)
{
    if (group != nullptr)
        drop_group(*group);
    return real.MPI_Group_free(group);
}

bool GroupMembers::find()
{
    if (!m_is_known && (m_group == MPI_GROUP_NULL || has_group(m_group)))
        ask();
    return m_is_known;
}

void GroupMembers::ask()
{
    if (m_is_known)
        return;
    if (m_group == MPI_GROUP_NULL)
        m_text.text("MPI_GROUP_NULL");
    else
        add_members();
    m_text.c_string(); // a NUL behind it
    m_is_known = !m_text.bad();
}

void GroupMembers::add_members()
{
    int count = 0;
    int* const ranks = world_ranks(m_group, &count);
    add_ranks(m_text, ranks, count);
    own_free(ranks);
}

} // namespace hdtrace::mpi
