// Tables of objects by handle or name. When memory is short they must not end the program, as those of GLib
// do.
#pragma once

#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/objects/handle.h"

#include <stdlib.h>

namespace hdtrace::mpi {

/// What an object in an ObjectTable derives from. It brings the memory for its place, so adding it cannot
/// fail.
template <typename Object> struct TableEntry {
    uintptr_t key;
    Object* next;
};

/// Objects by a key; the table does not own them. It has no destructor, since the program may call MPI until
/// its very end.
template <typename Object> class ObjectTable {
  public:
    ObjectTable() = default;
    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;

    /// Null if there is none.
    Object* find(uintptr_t key) const
    {
        return find(key, [](const Object&) { return true; });
    }
    /// The one of those with this key that is wanted.
    template <typename IsWanted> Object* find(uintptr_t key, IsWanted is_wanted) const
    {
        for (Object* object = bucket(key); object != nullptr; object = object->next)
            if (object->key == key && is_wanted(*object))
                return object;
        return nullptr;
    }
    void add(uintptr_t key, Object* object)
    {
        if (m_count >= m_bucket_count)
            grow();
        object->key = key;
        push(object);
        ++m_count;
    }
    void remove(const Object* object)
    {
        Object** link = &bucket(object->key);
        while (*link != object)
            link = &(*link)->next;
        *link = object->next;
        --m_count;
    }
    /// Gives all objects, and the table's own memory, back.
    void free_all()
    {
        for (size_t i = 0; i < m_bucket_count; ++i)
            while (Object* const object = m_buckets[i]) {
                m_buckets[i] = object->next;
                own_free(object);
            }
        if (m_buckets != m_first_buckets)
            own_free(m_buckets);
    }

  private:
    Object*& bucket(uintptr_t key) const { return m_buckets[hash_bits(key) & (m_bucket_count - 1)]; }
    void push(Object* object)
    {
        Object*& first = bucket(object->key);
        object->next = first;
        first = object;
    }

    // Without memory for it the table gets slower.
    void grow()
    {
        Object** const old = m_buckets;
        const size_t old_count = m_bucket_count;
        Object** const fresh = static_cast<Object**>(own_calloc(2 * old_count, sizeof(Object*)));
        if (fresh == nullptr)
            return;
        m_buckets = fresh;
        m_bucket_count = 2 * old_count;
        for (size_t i = 0; i < old_count; ++i) {
            for (Object *object = old[i], *next; object != nullptr; object = next) {
                next = object->next;
                push(object);
            }
        }
        if (old != m_first_buckets)
            own_free(old);
    }

    Object* m_first_buckets[16] = {};
    Object** m_buckets = m_first_buckets;
    size_t m_bucket_count = sizeof m_first_buckets / sizeof *m_first_buckets;
    size_t m_count = 0;
};

/// A number for each of some names. As for tables, only free_all() gives memory back.
class NumbersByName {
  public:
    NumbersByName() = default;
    NumbersByName(const NumbersByName&) = delete;
    NumbersByName& operator=(const NumbersByName&) = delete;

    void free_all() { m_table.free_all(); }
    /// Null if there is none.
    int64_t* find(const char* name) const
    {
        Entry* const known =
            m_table.find(hash(name), [&](const Entry& entry) { return strcmp(entry.name, name) == 0; });
        return known != nullptr ? &known->number : nullptr;
    }
    /// A new one is @p initial. Null without memory for it.
    int64_t* find_or_add(const char* name, int64_t initial)
    {
        if (int64_t* const known = find(name))
            return known;
        const size_t size = strlen(name) + 1;
        Entry* const entry = static_cast<Entry*>(own_malloc(sizeof(Entry) + size));
        if (entry == nullptr)
            return nullptr;
        entry->number = initial;
        memcpy(entry->name, name, size);
        m_table.add(hash(name), entry);
        return &entry->number;
    }
    /// How often it has been called for this name; 0 if memory is short.
    int64_t count(const char* name)
    {
        int64_t* const number = find_or_add(name, 0);
        return number != nullptr ? ++*number : 0;
    }

  private:
    struct Entry : TableEntry<Entry> {
        int64_t number;
        char name[]; // with its NUL
    };

    static uintptr_t hash(const char* name)
    {
        uintptr_t hash = 5381;
        for (; *name != '\0'; ++name)
            hash = hash * 33 + static_cast<unsigned char>(*name);
        return hash;
    }

    ObjectTable<Entry> m_table;
};

} // namespace hdtrace::mpi
