// The operations that have been started, by the handle and the variable that it was stored in.
#pragma once

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/program_memory.h"
#include "mpiwrapper/runtime/objects/handle.h"
#include "mpiwrapper/runtime/objects/request.h"

#include <algorithm>
#include <stdlib.h>

namespace hdtrace::mpi {

inline constexpr uint32_t no_entry = UINT32_MAX;

/// Which of @p count tables a variable's requests are in, where several threads share them. Neighbours have
/// the same one, so that a call for an array of requests locks few. @p count is a power of two.
inline unsigned table_number_of(const MPI_Request* variable, unsigned count)
{
    constexpr unsigned address_bits_of_neighbours = 12;
    return hash_bits(handle_bits(variable) >> address_bits_of_neighbours) & (count - 1);
}

/// An entry is in two lists: of its handle and variable (newest first), and of its handle (oldest first).
struct RequestLink {
    uint32_t previous = no_entry;
    uint32_t next = no_entry;
};

struct RequestEntry {
    MPI_Request handle;
    const MPI_Request* variable;
    Request request;
    RequestLink exact;
    RequestLink same_handle;
    uint64_t settlement; // the last one that it was found in, or the thread that made it
};

struct RequestBucket {
    uint32_t exact_first = no_entry;
    uint32_t handle_first = no_entry;
    uint32_t handle_last = no_entry;
};

/// Entries by handle and variable. Not thread-safe. It has no destructor, since the program may call MPI
/// until its very end.
class RequestTable {
  public:
    RequestTable() = default;
    RequestTable(const RequestTable&) = delete;
    RequestTable& operator=(const RequestTable&) = delete;

    /// The caller fills in `request`. Null if memory is short.
    RequestEntry* add(MPI_Request handle, const MPI_Request* variable)
    {
        if (m_free == no_entry && !grow())
            return nullptr;
        const uint32_t index = m_free;
        RequestEntry& entry = m_entries[index];
        m_free = entry.exact.next;
        entry.handle = handle;
        entry.variable = variable;
        entry.settlement = 0;
        link(index);
        ++m_count;
        return &entry;
    }

    /// The newest one; null if there is none.
    RequestEntry* find_exact(MPI_Request handle, const MPI_Request* variable)
    {
        if (m_count == 0)
            return nullptr;
        return first_exact(handle, variable, exact_bucket(handle, variable).exact_first);
    }

    /// The next older one with the same handle and variable; null if there is none.
    RequestEntry* older_in_same_place(const RequestEntry& entry)
    {
        return first_exact(entry.handle, entry.variable, entry.exact.next);
    }

    /// Null if there is none.
    RequestEntry* oldest_with(MPI_Request handle)
    {
        return m_count > 0 ? first_with(handle, handle_bucket(handle).handle_first) : nullptr;
    }

    /// The oldest one that is younger.
    RequestEntry* next_with_same_handle(const RequestEntry* entry)
    {
        return first_with(entry->handle, entry->same_handle.next);
    }

    void remove(RequestEntry* entry)
    {
        const uint32_t index = static_cast<uint32_t>(entry - m_entries);
        unlink(index);
        entry->exact.next = m_free;
        m_free = index;
        --m_count;
    }

    // ---- for other threads and signal handlers, which take no lock ----

    /// find_exact(), as the table is at the moment.
    bool look_for_exact(MPI_Request handle, const MPI_Request* variable, Request& found) const
    {
        RequestBucket bucket;
        RequestEntry entry;
        if (!look_at_bucket(hash_of(handle, variable), bucket))
            return false;
        for (uint32_t i = bucket.exact_first, steps = 0; look_at(i, steps, entry); i = entry.exact.next)
            if (entry.handle == handle && entry.variable == variable)
                return found = entry.request, true;
        return false;
    }
    /// The oldest entry of a handle that is younger than @p rid.
    bool look_for_younger(MPI_Request handle, int64_t rid, Request& found) const
    {
        RequestBucket bucket;
        RequestEntry entry;
        if (!look_at_bucket(hash_of(handle), bucket))
            return false;
        for (uint32_t i = bucket.handle_first, steps = 0; look_at(i, steps, entry);
             i = entry.same_handle.next)
            if (entry.handle == handle && entry.request.rid > rid)
                return found = entry.request, true;
        return false;
    }

  private:
    // The table may change or move meanwhile, so lists may have no end.
    static constexpr uint32_t most_steps = 1'000'000;

    bool look_at_bucket(size_t hash, RequestBucket& bucket) const
    {
        const RequestBucket* const buckets = __atomic_load_n(&m_buckets, __ATOMIC_ACQUIRE);
        const uint32_t mask = __atomic_load_n(&m_mask, __ATOMIC_RELAXED);
        return buckets != nullptr && copy_from_program(bucket, buckets + (hash & mask));
    }
    bool look_at(uint32_t index, uint32_t& steps, RequestEntry& entry) const
    {
        const RequestEntry* const entries = __atomic_load_n(&m_entries, __ATOMIC_ACQUIRE);
        return index != no_entry && ++steps < most_steps &&
               copy_from_program(static_cast<void*>(&entry), entries + index, sizeof entry);
    }

    RequestEntry* first_exact(MPI_Request handle, const MPI_Request* variable, uint32_t index)
    {
        for (uint32_t i = index; i != no_entry; i = m_entries[i].exact.next)
            if (m_entries[i].handle == handle && m_entries[i].variable == variable)
                return &m_entries[i];
        return nullptr;
    }
    RequestEntry* first_with(MPI_Request handle, uint32_t index)
    {
        while (index != no_entry && m_entries[index].handle != handle)
            index = m_entries[index].same_handle.next;
        return index != no_entry ? &m_entries[index] : nullptr;
    }

    static size_t hash_of(MPI_Request handle, const MPI_Request* variable)
    {
        return hash_bits(handle_bits(handle) * 31 + handle_bits(variable));
    }
    static size_t hash_of(MPI_Request handle) { return hash_bits(handle_bits(handle)); }
    RequestBucket& exact_bucket(MPI_Request handle, const MPI_Request* variable)
    {
        return m_buckets[hash_of(handle, variable) & m_mask];
    }
    RequestBucket& handle_bucket(MPI_Request handle) { return m_buckets[hash_of(handle) & m_mask]; }

    void link(uint32_t index)
    {
        RequestEntry& entry = m_entries[index];
        RequestBucket& exact = exact_bucket(entry.handle, entry.variable);
        entry.exact = {no_entry, exact.exact_first};
        if (exact.exact_first != no_entry)
            m_entries[exact.exact_first].exact.previous = index;
        // Whoever finds the entry without a lock must find the list behind it, too.
        __atomic_store_n(&exact.exact_first, index, __ATOMIC_RELEASE);

        RequestBucket& same = handle_bucket(entry.handle);
        entry.same_handle = {same.handle_last, no_entry};
        __atomic_store_n(same.handle_last != no_entry ? &m_entries[same.handle_last].same_handle.next
                                                      : &same.handle_first,
                         index, __ATOMIC_RELEASE);
        same.handle_last = index;
    }

    void unlink(uint32_t index)
    {
        const RequestEntry& entry = m_entries[index];
        RequestBucket& exact = exact_bucket(entry.handle, entry.variable);
        (entry.exact.previous != no_entry ? m_entries[entry.exact.previous].exact.next : exact.exact_first) =
            entry.exact.next;
        if (entry.exact.next != no_entry)
            m_entries[entry.exact.next].exact.previous = entry.exact.previous;

        RequestBucket& same = handle_bucket(entry.handle);
        const RequestLink& link = entry.same_handle;
        (link.previous != no_entry ? m_entries[link.previous].same_handle.next : same.handle_first) =
            link.next;
        (link.next != no_entry ? m_entries[link.next].same_handle.previous : same.handle_last) =
            link.previous;
    }

    // Twice as many entries and buckets. The old memory is kept if there is no new.
    bool grow()
    {
        const uint32_t capacity = m_capacity == 0 ? 256 : 2 * m_capacity;
        RequestBucket* const buckets =
            static_cast<RequestBucket*>(own_malloc(capacity * sizeof(RequestBucket)));
        RequestEntry* const entries = static_cast<RequestEntry*>(
            own_realloc(static_cast<void*>(m_entries), capacity * sizeof(RequestEntry)));
        if (entries != nullptr)
            __atomic_store_n(&m_entries, entries, __ATOMIC_RELEASE);
        if (entries == nullptr || buckets == nullptr) {
            own_free(buckets);
            return false;
        }
        own_free(m_buckets);
        __atomic_store_n(&m_mask, capacity - 1, __ATOMIC_RELAXED);
        __atomic_store_n(&m_buckets, buckets, __ATOMIC_RELEASE);
        for (uint32_t i = 0; i < capacity; ++i)
            m_buckets[i] = RequestBucket();
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
        uint32_t* const order = static_cast<uint32_t*>(own_malloc((m_capacity + 1) * sizeof(uint32_t)));
        if (order == nullptr) {
            for (uint32_t i = 0; i < m_capacity; ++i)
                link(i);
            return;
        }
        for (uint32_t i = 0; i < m_capacity; ++i)
            order[i] = i;
        // The C library's functions may ask the program for memory.
        std::sort(order, order + m_capacity, [this](uint32_t left, uint32_t right) {
            return m_entries[left].request.rid < m_entries[right].request.rid;
        });
        for (uint32_t i = 0; i < m_capacity; ++i)
            link(order[i]);
        own_free(order);
    }

    RequestEntry* m_entries = nullptr;
    RequestBucket* m_buckets = nullptr;
    uint32_t m_capacity = 0;
    uint32_t m_mask = 0;
    uint32_t m_free = no_entry;
    uint32_t m_count = 0;
};

} // namespace hdtrace::mpi
