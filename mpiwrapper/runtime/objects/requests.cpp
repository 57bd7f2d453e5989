#include "mpiwrapper/runtime/objects/requests.h"

#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/handle.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"

#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

constexpr uint32_t none = UINT32_MAX;

// An entry is in two lists: of its handle and variable (newest first), and of its handle (oldest first).
struct Link {
    uint32_t previous = none;
    uint32_t next = none;
};

struct Entry {
    MPI_Request handle;
    const MPI_Request* variable;
    Request request;
    Link exact;
    Link same_handle;
    uint64_t settlement; // the last one that it was found in
};

struct Bucket {
    uint32_t exact_first = none;
    uint32_t handle_first = none;
    uint32_t handle_last = none;
};

class Table {
  public:
    Entry* add(MPI_Request handle, const MPI_Request* variable)
    {
        if (m_free == none && !grow())
            return nullptr;
        const uint32_t index = m_free;
        Entry& entry = m_entries[index];
        m_free = entry.exact.next;
        entry.handle = handle;
        entry.variable = variable;
        entry.settlement = 0;
        link(index);
        ++m_count;
        return &entry;
    }

    Entry* find_exact(MPI_Request handle, const MPI_Request* variable)
    {
        if (m_count == 0)
            return nullptr;
        for (uint32_t i = exact_bucket(handle, variable).exact_first; i != none; i = m_entries[i].exact.next)
            if (m_entries[i].handle == handle && m_entries[i].variable == variable)
                return &m_entries[i];
        return nullptr;
    }

    Entry* oldest_with(MPI_Request handle)
    {
        return m_count > 0 ? first_with(handle, handle_bucket(handle).handle_first) : nullptr;
    }

    /// The oldest one that is younger.
    Entry* next_with_same_handle(const Entry* entry)
    {
        return first_with(entry->handle, entry->same_handle.next);
    }

    void remove(Entry* entry)
    {
        const uint32_t index = static_cast<uint32_t>(entry - m_entries);
        unlink(index);
        entry->exact.next = m_free;
        m_free = index;
        --m_count;
    }

  private:
    Entry* first_with(MPI_Request handle, uint32_t index)
    {
        while (index != none && m_entries[index].handle != handle)
            index = m_entries[index].same_handle.next;
        return index != none ? &m_entries[index] : nullptr;
    }

    Bucket& exact_bucket(MPI_Request handle, const MPI_Request* variable)
    {
        return m_buckets[hash_bits(handle_bits(handle) * 31 + handle_bits(variable)) & m_mask];
    }
    Bucket& handle_bucket(MPI_Request handle) { return m_buckets[hash_bits(handle_bits(handle)) & m_mask]; }

    void link(uint32_t index)
    {
        Entry& entry = m_entries[index];
        Bucket& exact = exact_bucket(entry.handle, entry.variable);
        entry.exact = {none, exact.exact_first};
        if (exact.exact_first != none)
            m_entries[exact.exact_first].exact.previous = index;
        exact.exact_first = index;

        Bucket& same = handle_bucket(entry.handle);
        entry.same_handle = {same.handle_last, none};
        (same.handle_last != none ? m_entries[same.handle_last].same_handle.next : same.handle_first) = index;
        same.handle_last = index;
    }

    void unlink(uint32_t index)
    {
        const Entry& entry = m_entries[index];
        Bucket& exact = exact_bucket(entry.handle, entry.variable);
        (entry.exact.previous != none ? m_entries[entry.exact.previous].exact.next : exact.exact_first) =
            entry.exact.next;
        if (entry.exact.next != none)
            m_entries[entry.exact.next].exact.previous = entry.exact.previous;

        Bucket& same = handle_bucket(entry.handle);
        const Link& link = entry.same_handle;
        (link.previous != none ? m_entries[link.previous].same_handle.next : same.handle_first) = link.next;
        (link.next != none ? m_entries[link.next].same_handle.previous : same.handle_last) = link.previous;
    }

    // Twice as many entries and buckets. The old memory is kept if there is no new.
    bool grow()
    {
        const uint32_t capacity = m_capacity == 0 ? 256 : 2 * m_capacity;
        Bucket* const buckets = static_cast<Bucket*>(malloc(capacity * sizeof(Bucket)));
        Entry* const entries =
            static_cast<Entry*>(realloc(static_cast<void*>(m_entries), capacity * sizeof(Entry)));
        if (entries != nullptr)
            m_entries = entries;
        if (entries == nullptr || buckets == nullptr) {
            free(buckets);
            return false;
        }
        free(m_buckets);
        m_buckets = buckets;
        m_mask = capacity - 1;
        for (uint32_t i = 0; i < capacity; ++i)
            m_buckets[i] = Bucket();
        // All old entries are in use, else there was no need to grow; their order of age is that of their
        // rids.
        relink_by_age();
        for (uint32_t i = m_capacity; i < capacity; ++i) {
            m_entries[i].exact.next = m_free;
            m_free = i;
        }
        m_capacity = capacity;
        return true;
    }

    void relink_by_age()
    {
        uint32_t* const order = static_cast<uint32_t*>(malloc((m_capacity + 1) * sizeof(uint32_t)));
        if (order == nullptr) {
            for (uint32_t i = 0; i < m_capacity; ++i)
                link(i);
            return;
        }
        for (uint32_t i = 0; i < m_capacity; ++i)
            order[i] = i;
        qsort_r(
            order, m_capacity, sizeof(uint32_t),
            [](const void* left, const void* right, void* entries) {
                const Entry* const all = static_cast<const Entry*>(entries);
                const int64_t a = all[*static_cast<const uint32_t*>(left)].request.rid;
                const int64_t b = all[*static_cast<const uint32_t*>(right)].request.rid;
                return a < b ? -1 : a > b ? 1 : 0;
            },
            m_entries);
        for (uint32_t i = 0; i < m_capacity; ++i)
            link(order[i]);
        free(order);
    }

    Entry* m_entries = nullptr;
    Bucket* m_buckets = nullptr;
    uint32_t m_capacity = 0;
    uint32_t m_mask = 0;
    uint32_t m_free = none;
    uint32_t m_count = 0;
};

// Where several threads call MPI at the same time, the entries are spread by the addresses of their
// variables, so that threads meet only if their variables are neighbours. Whoever looks for a handle that was
// moved needs all parts.
struct alignas(64) Part {
    Table table;
    SpinLock lock;
};

constexpr unsigned part_count_with_threads = 64;
constexpr unsigned address_bits_of_neighbours = 12;
Part parts[part_count_with_threads];
unsigned part_count = 1; // a single part needs no lock
alignas(64) int64_t rid_count = 0;

Part& part_of(const MPI_Request* variable)
{
    return parts[hash_bits(handle_bits(variable) >> address_bits_of_neighbours) & (part_count - 1)];
}

// Access to one part at a time.
class PartAccess {
  public:
    PartAccess() = default;
    ~PartAccess() { unlock(); }
    PartAccess(const PartAccess&) = delete;
    PartAccess& operator=(const PartAccess&) = delete;

    /// The table that a variable's requests are in, until the next call.
    Table& table_of(const MPI_Request* variable)
    {
        if (part_count == 1)
            return parts[0].table;
        Part& part = part_of(variable);
        if (m_locked != &part) {
            unlock();
            part.lock.lock();
            m_locked = &part;
        }
        return part.table;
    }

  private:
    void unlock()
    {
        if (m_locked != nullptr)
            m_locked->lock.unlock();
    }

    Part* m_locked = nullptr;
};

// All entries of a handle, from the oldest on. Holds all locks.
class ByAge {
  public:
    ByAge()
    {
        for (unsigned i = 0; part_count > 1 && i < part_count; ++i)
            parts[i].lock.lock();
    }
    ~ByAge()
    {
        for (unsigned i = 0; part_count > 1 && i < part_count; ++i)
            parts[i].lock.unlock();
    }
    ByAge(const ByAge&) = delete;
    ByAge& operator=(const ByAge&) = delete;

    /// Goes back to the oldest one if the handle is another one than last time.
    void start_with(MPI_Request handle)
    {
        if (m_has_started && handle == m_handle)
            return;
        m_has_started = true;
        m_handle = handle;
        for (unsigned i = 0; i < part_count; ++i)
            m_next[i] = parts[i].table.oldest_with(handle);
    }

    /// Null if there is none left. @p table is where it is; it may be removed from there.
    Entry* next(Table** table)
    {
        unsigned oldest = 0;
        for (unsigned i = 1; i < part_count; ++i)
            if (m_next[i] != nullptr &&
                (m_next[oldest] == nullptr || m_next[i]->request.rid < m_next[oldest]->request.rid))
                oldest = i;
        Entry* const entry = m_next[oldest];
        *table = &parts[oldest].table;
        if (entry != nullptr)
            m_next[oldest] = (*table)->next_with_same_handle(entry);
        return entry;
    }

  private:
    MPI_Request m_handle = MPI_REQUEST_NULL;
    bool m_has_started = false;
    Entry* m_next[part_count_with_threads];
};

// Calls use(table, entry) for the entry of a handle; false if there is none.
template <typename Use> bool use_entry(MPI_Request handle, const MPI_Request* variable, Use use)
{
    {
        PartAccess access;
        Table& table = access.table_of(variable);
        if (Entry* const entry = table.find_exact(handle, variable)) {
            use(table, *entry);
            return true;
        }
    }
    ByAge by_age;
    by_age.start_with(handle);
    Table* table;
    Entry* const entry = by_age.next(&table);
    if (entry != nullptr)
        use(*table, *entry);
    return entry != nullptr;
}

// One completion call. No entry is found twice in it.
class Settlement {
  public:
    Settlement()
    {
        static __thread uint64_t count = 0;
        constexpr unsigned count_bits = 40;
        m_number = (static_cast<uint64_t>(current_thread->number) << count_bits) + ++count;
    }

    void settle(Offer& offer, Table& table, Entry& entry)
    {
        entry.settlement = m_number;
        offer.is_known = true;
        offer.request = entry.request;
        if (!offer.has_ended)
            return;
        if (entry.request.is_persistent)
            entry.request.is_active = entry.request.is_cancelled = false;
        else
            table.remove(&entry);
    }

    /// For a handle that the program has moved.
    void settle(Offer& offer, ByAge& by_age)
    {
        by_age.start_with(offer.handle);
        Table* table;
        Entry* entry;
        do
            entry = by_age.next(&table);
        while (entry != nullptr && entry->settlement == m_number);
        if (entry != nullptr)
            settle(offer, *table, *entry);
    }

  private:
    uint64_t m_number;
};

} // namespace

void set_requests_shared_by_threads()
{
    part_count = part_count_with_threads;
}

int64_t next_rid()
{
    return part_count > 1 ? __atomic_fetch_add(&rid_count, 1, __ATOMIC_RELAXED) : rid_count++;
}

void add_request(MPI_Request handle, const MPI_Request* variable, const Request& request)
{
    if (handle == MPI_REQUEST_NULL)
        return;
    PartAccess access;
    Entry* const entry = access.table_of(variable).add(handle, variable);
    if (entry == nullptr)
        return;
    entry->request = request;
    // Where ranks are world ranks there is nothing to look up later.
    if (request.comm != nullptr && request.comm->peers() == nullptr)
        entry->request.comm = nullptr;
    if (entry->request.comm != nullptr)
        add_reference(*entry->request.comm);
}

bool find_request(MPI_Request handle, const MPI_Request* variable, Request* request)
{
    return use_entry(handle, variable, [request](Table&, const Entry& entry) { *request = entry.request; });
}

void settle_requests(Offer* offers, const MPI_Request* variables, int count)
{
    Settlement settlement;
    int moved = 0;
    {
        PartAccess access;
        for (int i = 0; i < count; ++i) {
            offers[i].is_known = false;
            if (offers[i].handle == MPI_REQUEST_NULL)
                continue;
            Table& table = access.table_of(&variables[i]);
            if (Entry* const entry = table.find_exact(offers[i].handle, &variables[i]))
                settlement.settle(offers[i], table, *entry);
            else
                ++moved;
        }
    }
    if (moved == 0)
        return;
    ByAge by_age;
    for (int i = 0; i < count; ++i)
        if (offers[i].handle != MPI_REQUEST_NULL && !offers[i].is_known)
            settlement.settle(offers[i], by_age);
}

Request start_request(MPI_Request handle, const MPI_Request* variable)
{
    Request started;
    started.rid = next_rid();
    use_entry(handle, variable, [&started](Table&, Entry& entry) {
        entry.request.rid = started.rid;
        entry.request.is_active = true;
        started = entry.request;
    });
    return started;
}

bool remove_request(MPI_Request handle, const MPI_Request* variable, Request* request)
{
    return use_entry(handle, variable, [request](Table& table, Entry& entry) {
        *request = entry.request;
        table.remove(&entry);
    });
}

void mark_cancelled(MPI_Request handle, const MPI_Request* variable)
{
    use_entry(handle, variable, [](Table&, Entry& entry) { entry.request.is_cancelled = true; });
}

} // namespace hdtrace::mpi
