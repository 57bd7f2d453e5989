// MPI handles are pointers in one MPI library and integers in another.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace hdtrace::mpi {

template <typename Handle> inline uintptr_t handle_bits(Handle handle)
{
    static_assert(sizeof(Handle) <= sizeof(uintptr_t));
    uintptr_t bits = 0;
    memcpy(&bits, &handle, sizeof handle);
    return bits;
}

inline size_t hash_bits(uintptr_t bits)
{
    return static_cast<size_t>((static_cast<uint64_t>(bits) * 0x9E3779B97F4A7C15ull) >> 32);
}

/// Handles are spread over so many slots.
inline constexpr size_t handle_slots = 32;
template <typename Handle> inline size_t slot_of(Handle handle)
{
    return hash_bits(handle_bits(handle)) % handle_slots;
}

/// How often a handle of a slot has lost its meaning. Thread-safe.
template <typename Handle> class Generations {
  public:
    uint64_t of(Handle handle) const
    {
        return __atomic_load_n(&m_counts[slot_of(handle)], __ATOMIC_ACQUIRE) + 1;
    }
    /// The handle was freed, and may be used again for something else.
    void end(Handle handle) { __atomic_add_fetch(&m_counts[slot_of(handle)], 1, __ATOMIC_RELEASE); }

  private:
    uint64_t m_counts[handle_slots] = {};
};

/// What a thread found out lately about handles: finds of an earlier generation are forgotten. There is room
/// for several handles of a slot, since which of a program's few handles share one is a matter of their
/// addresses.
template <typename Handle, typename Value> class HandleCache {
  public:
    /// Null if it is not known.
    const Value* find(Handle handle, uint64_t generation) const
    {
        for (const Find& find : m_finds[slot_of(handle)])
            if (find.handle == handle && find.generation == generation)
                return &find.value;
        return nullptr;
    }
    /// A value that was stored, looked for without its handle; null if there is none. Slow.
    template <typename IsWanted> const Value* find_value(IsWanted is_wanted) const
    {
        for (const auto& finds : m_finds)
            for (const Find& find : finds)
                if (find.generation != 0 && is_wanted(find.value))
                    return &find.value;
        return nullptr;
    }
    /// Calls use(value) for each that was stored and is still there.
    template <typename Use> void for_each(Use use) const
    {
        find_value([&](const Value& value) {
            use(value);
            return false;
        });
    }
    /// Forgets one that was stored with this value. False if there is none.
    bool remove(Handle handle, const Value& value)
    {
        for (Find& find : m_finds[slot_of(handle)])
            if (find.generation != 0 && find.value == value) {
                find = {};
                return true;
            }
        return false;
    }
    /// In place of the oldest one of the slot, which is returned; Value() if there was room.
    Value store(Handle handle, uint64_t generation, const Value& value)
    {
        Find(&finds)[finds_per_slot] = m_finds[slot_of(handle)];
        const Value replaced = finds[finds_per_slot - 1].value;
        for (size_t i = finds_per_slot - 1; i > 0; --i)
            finds[i] = finds[i - 1];
        finds[0] = {handle, generation, value};
        return replaced;
    }

  private:
    struct Find {
        Handle handle;
        uint64_t generation; // 0: never used
        Value value;
    };

    static constexpr size_t finds_per_slot = 4;
    Find m_finds[handle_slots][finds_per_slot] = {};
};

} // namespace hdtrace::mpi
