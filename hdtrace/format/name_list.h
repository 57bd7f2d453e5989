// name_list.h - the names of the attributes of elements.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hdtrace/format/attribute_name.h"

namespace hdtrace::detail {

/// Names in their order. Nearly all elements of a trace have the names of one before, so lists are shared:
/// the same names are the same object. A shared list lives as long as the program and never changes; any
/// number of threads may use it.
class NameList {
  public:
    using Position = std::uint32_t;
    static constexpr Position none = ~Position{0};

    NameList() { m_first.fill(none); }
    /// One that is not shared and may change, with the names of @p other.
    NameList(const NameList& other) : m_names(other.m_names), m_first(other.m_first), m_bits(other.m_bits) {}
    NameList& operator=(const NameList&) = delete;

    /// The shared list without names.
    static const NameList& empty();

    bool is_shared() const { return m_is_shared; }
    std::size_t size() const { return m_names.size(); }
    std::string_view operator[](std::size_t position) const { return m_names[position].text; }
    /// Of all names: see AttributeName::bits().
    std::uint64_t bits() const { return m_bits; }
    Position find(NameKey key, std::string_view name) const
    {
        for (Position i = m_first[slot_of_key(key)]; i != none; i = m_names[i].next_in_slot)
            if (m_names[i].key == key && (!(key & not_exact) || m_names[i].text == name))
                return i;
        return none;
    }

    /// The shared list of the first @p count names of this shared list.
    const NameList& first(std::size_t count) const;
    /// The shared list with one more name. Null if it cannot be shared: there are too many, or too long
    /// names.
    const NameList* with(std::string_view name) const;
    /// Of a list that is not shared.
    void add(std::string_view name);

  private:
    struct Name {
        NameKey key = 0;
        Position next_in_slot = none;
        std::string text;
    };

    std::vector<Name> m_names;
    std::array<Position, 64> m_first; ///< by the slot of the key
    std::uint64_t m_bits = 0;
    bool m_is_shared = false;
    const NameList* m_shorter = nullptr; ///< of a shared list, without the last name
    mutable std::atomic<const NameList*> m_last_with = nullptr;
};

/// The list of an element: a shared one or, if that cannot be, one of its own.
class ElementNames {
  public:
    ElementNames() : m_list(&NameList::empty()) {}
    ElementNames(const ElementNames& other) : m_list(other->is_shared() ? other.m_list : new NameList(*other))
    {
    }
    ElementNames(ElementNames&& other) noexcept : m_list(std::exchange(other.m_list, &NameList::empty())) {}
    ElementNames& operator=(ElementNames other) noexcept
    {
        std::swap(m_list, other.m_list);
        return *this;
    }
    ~ElementNames()
    {
        if (!m_list->is_shared())
            delete m_list;
    }

    const NameList& operator*() const { return *m_list; }
    const NameList* operator->() const { return m_list; }
    /// From now on @p shared is the list.
    void set(const NameList& shared);
    void add(std::string_view name);

  private:
    const NameList* m_list; ///< never null
};

} // namespace hdtrace::detail
