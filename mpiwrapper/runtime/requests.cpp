#include "mpiwrapper/runtime/requests.h"

#include "mpiwrapper/runtime/communicators.h"
#include "mpiwrapper/runtime/handle.h"
#include "mpiwrapper/runtime/lock.h"

#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

constexpr uint32_t none = UINT32_MAX;

// An entry is in two lists: of its handle and variable (newest first), and of its handle (oldest first).
struct Link
{
    uint32_t previous = none;
    uint32_t next = none;
};

struct Entry
{
    MPI_Request handle;
    const MPI_Request* variable;
    Request request;
    Link exact;
    Link same_handle;
    uint32_t settlement; // the last one that it was found in
};

struct Bucket
{
    uint32_t exact_first = none;
    uint32_t handle_first = none;
    uint32_t handle_last = none;
};

class Table
{
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

    Entry* find(MPI_Request handle, const MPI_Request* variable)
    {
        Entry* const exact = find_exact(handle, variable);
        return exact != nullptr ? exact : oldest_with(handle);
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
    Entry* next_with_same_handle(const Entry* entry) { return first_with(entry->handle, entry->same_handle.next); }

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
        (entry.exact.previous != none ? m_entries[entry.exact.previous].exact.next : exact.exact_first) = entry.exact.next;
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
        Entry* const entries = static_cast<Entry*>(realloc(static_cast<void*>(m_entries), capacity * sizeof(Entry)));
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
        // All old entries are in use, else there was no need to grow; their order of age is that of their rids.
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

Table table;
SpinLock table_lock;
bool is_shared = false;
int64_t rid_count = 0;

// Programs with one thread do not pay for the lock.
class TableLock
{
  public:
    TableLock() : m_locked(is_shared)
    {
        if (m_locked)
            table_lock.lock();
    }
    ~TableLock()
    {
        if (m_locked)
            table_lock.unlock();
    }
    TableLock(const TableLock&) = delete;
    TableLock& operator=(const TableLock&) = delete;

  private:
    const bool m_locked;
};

void complete(Entry* entry)
{
    if (entry->request.is_persistent)
        entry->request.is_active = entry->request.is_cancelled = false;
    else
        table.remove(entry);
}

// One completion call. Whoever uses it holds the lock.
class Settlement
{
  public:
    Settlement()
    {
        static uint32_t count = 0;
        m_number = ++count;
    }

    void settle_exact(Offer& offer, const MPI_Request* variable)
    {
        Entry* const entry = table.find_exact(offer.handle, variable);
        offer.is_known = entry != nullptr;
        if (entry != nullptr)
            settle(offer, entry);
    }

    /// For a handle that the program has moved. Equal ones come one after the other, so the search goes on from the last one.
    void settle_by_age(Offer& offer)
    {
        Entry* entry = m_last_handle == offer.handle ? m_next : table.oldest_with(offer.handle);
        while (entry != nullptr && entry->settlement == m_number)
            entry = table.next_with_same_handle(entry);
        m_last_handle = offer.handle;
        m_next = entry != nullptr ? table.next_with_same_handle(entry) : nullptr;
        offer.is_known = entry != nullptr;
        if (entry != nullptr)
            settle(offer, entry);
    }

  private:
    void settle(Offer& offer, Entry* entry)
    {
        entry->settlement = m_number;
        offer.request = entry->request;
        if (offer.has_ended)
            complete(entry);
    }

    uint32_t m_number;
    MPI_Request m_last_handle = MPI_REQUEST_NULL;
    Entry* m_next = nullptr;
};

} // namespace

void set_requests_shared_by_threads()
{
    is_shared = true;
}

int64_t next_rid()
{
    if (is_shared)
        return __atomic_fetch_add(&rid_count, 1, __ATOMIC_RELAXED);
    return rid_count++;
}

void add_request(MPI_Request handle, const MPI_Request* variable, const Request& request)
{
    if (handle == MPI_REQUEST_NULL)
        return;
    const TableLock lock;
    Entry* const entry = table.add(handle, variable);
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
    const TableLock lock;
    const Entry* const entry = table.find(handle, variable);
    if (entry != nullptr)
        *request = entry->request;
    return entry != nullptr;
}

void settle_requests(Offer* offers, const MPI_Request* variables, int count)
{
    const TableLock lock;
    Settlement settlement;
    for (int i = 0; i < count; ++i)
        if (offers[i].handle != MPI_REQUEST_NULL)
            settlement.settle_exact(offers[i], &variables[i]);
    for (int i = 0; i < count; ++i)
        if (offers[i].handle != MPI_REQUEST_NULL && !offers[i].is_known)
            settlement.settle_by_age(offers[i]);
}

Request start_request(MPI_Request handle, const MPI_Request* variable)
{
    Request started;
    started.rid = next_rid();
    const TableLock lock;
    Entry* const entry = table.find(handle, variable);
    if (entry == nullptr)
        return started;
    entry->request.rid = started.rid;
    entry->request.is_active = true;
    return entry->request;
}

bool remove_request(MPI_Request handle, const MPI_Request* variable, Request* request)
{
    const TableLock lock;
    Entry* const entry = table.find(handle, variable);
    if (entry == nullptr)
        return false;
    *request = entry->request;
    table.remove(entry);
    return true;
}

void mark_cancelled(MPI_Request handle, const MPI_Request* variable)
{
    const TableLock lock;
    Entry* const entry = table.find(handle, variable);
    if (entry != nullptr)
        entry->request.is_cancelled = true;
}

} // namespace hdtrace::mpi
