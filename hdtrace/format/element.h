// element.h - an XML element with its attributes, as all readers hand it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/attribute_name.h"

namespace hdtrace {

namespace detail {
class LineParser;
}

/// Belongs to the list that handed it out, until that changes.
struct Attribute {
    std::string_view name;
    std::string_view value;

    bool operator==(const Attribute&) const = default;
};

/// Attributes in their order. Made to be read into again and again, and to be asked for names that it mostly
/// does not have.
class AttributeList {
  public:
    class Iterator;

    AttributeList() = default;
    AttributeList(std::initializer_list<Attribute> attributes);

    bool empty() const { return m_places.empty(); }
    std::size_t size() const { return m_places.size(); }
    Attribute operator[](std::size_t position) const
    {
        const Place& place = m_places[position];
        return {text(place.name, place.name_size), text(place.value, place.value_size)};
    }
    Iterator begin() const;
    Iterator end() const;

    /// Whether it perhaps has an attribute of which AttributeName::bits() are these.
    bool may_have(std::uint64_t bits) const { return (m_names & bits) != 0; }
    /// Where the attribute is that AttributeName finds: with this very name, else with another spelling.
    std::optional<std::size_t> find(const AttributeName& name) const;
    /// The same without other spellings.
    std::optional<std::size_t> find_exactly(const AttributeName& name) const
    {
        return find_key(name.key(), name.text());
    }
    /// The value of the attribute that find() finds, and the value as a number; nothing if there is none or
    /// it is no 64-bit number.
    std::optional<std::string_view> value(const AttributeName& name) const
    {
        const auto found = may_have(name.bits()) ? find(name) : std::nullopt;
        return found ? std::optional((*this)[*found].value) : std::nullopt;
    }
    std::optional<std::int64_t> integer(const AttributeName& name) const
    {
        const auto found = may_have(name.bits()) ? find(name) : std::nullopt;
        return found ? number(*found) : std::nullopt;
    }
    /// The value as a number, if it is a 64-bit number.
    std::optional<std::int64_t> number(std::size_t position) const
    {
        const Place& place = m_places[position];
        return place.is_number ? std::optional(place.number) : std::nullopt;
    }

    /// Throws std::length_error beyond four gigabytes.
    void push_back(std::string_view name, std::string_view value);
    void set_value(std::size_t position, std::string_view value);
    void erase(std::size_t position);
    /// Keeps the memory.
    void clear();

    bool operator==(const AttributeList& other) const;

  private:
    friend class detail::LineParser;

    /// Of an attribute in the text.
    struct Place {
        detail::NameKey key = 0;
        std::uint32_t name = 0, name_size = 0;
        std::uint32_t value = 0, value_size = 0;
        std::int64_t number = 0;
        bool is_number = false;
    };

    std::string_view text(std::uint32_t begin, std::uint32_t size) const
    {
        return {m_text.data() + begin, size};
    }
    std::optional<std::size_t> find_key(detail::NameKey key, std::string_view name) const;
    /// Right if it says no.
    bool may_have_key(detail::NameKey key) const;
    std::uint32_t append(std::string_view text);
    void add(const Place& place, std::string_view value);
    static void set_number(Place& place, std::string_view value);

    std::string m_text; ///< with all names and values
    std::vector<Place> m_places;
    std::uint64_t m_names = 0; ///< bits of all keys
};

class AttributeList::Iterator {
  public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Attribute;
    using difference_type = std::ptrdiff_t;
    using reference = Attribute;
    using pointer = void;

    Iterator() = default;
    Iterator(const AttributeList& list, std::size_t position) : m_list(&list), m_position(position) {}
    Attribute operator*() const { return (*m_list)[m_position]; }
    Iterator& operator++()
    {
        ++m_position;
        return *this;
    }
    Iterator operator++(int) { return {*m_list, m_position++}; }
    bool operator==(const Iterator&) const = default;

  private:
    const AttributeList* m_list = nullptr;
    std::size_t m_position = 0;
};

inline AttributeList::Iterator AttributeList::begin() const
{
    return {*this, 0};
}

inline AttributeList::Iterator AttributeList::end() const
{
    return {*this, size()};
}

struct Element {
    std::string name;
    AttributeList attributes; ///< in the order of the file

    /// The value of an attribute, if there is one. Where no attribute has this very name, another spelling of
    /// it is taken: find("rid") also sees the `aid` of older traces, find("rootRank") the `root` of Gather.
    /// The result belongs to the element.
    std::optional<std::string_view> find(const AttributeName& name) const { return attributes.value(name); }
    /// The value as text of its own, empty if there is none.
    std::string text(const AttributeName& name) const { return std::string(find(name).value_or("")); }
    bool has(const AttributeName& name) const { return find(name).has_value(); }
    /// The value that find() finds, as a number; nothing if there is none or it is no 64-bit number.
    std::optional<std::int64_t> integer(const AttributeName& name) const { return attributes.integer(name); }

    bool operator==(const Element&) const = default;
};

} // namespace hdtrace
