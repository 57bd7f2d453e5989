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
#include "hdtrace/format/name_list.h"
#include "hdtrace/format/text_value.h"

namespace hdtrace {

namespace detail {
class LineParser;
class StateReader;
class StateWriter;
} // namespace detail

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

    bool empty() const { return m_values.empty(); }
    std::size_t size() const { return m_values.size(); }
    Attribute operator[](std::size_t position) const { return {(*m_names)[position], value_at(position)}; }
    Iterator begin() const;
    Iterator end() const;

    /// Whether it perhaps has an attribute of which AttributeName::bits() are these.
    bool may_have(std::uint64_t bits) const { return (name_bits() & bits) != 0; }
    /// A bit for each name, which a few share.
    std::uint64_t name_bits() const { return m_names->bits(); }
    /// Where the attribute is that AttributeName finds: with this very name, else with another spelling.
    std::optional<std::size_t> find(const AttributeName& name) const { return if_any(position_of(name)); }
    /// The same without other spellings.
    std::optional<std::size_t> find_exactly(const AttributeName& name) const
    {
        return if_any(m_names->find(name.key(), name.text()));
    }
    /// The value of the attribute that find() finds, and the value as a number; nothing if there is none or
    /// it is no 64-bit number.
    [[gnu::always_inline]] std::optional<std::string_view> value(const AttributeName& name) const
    {
        const Value* const found = find_value(name);
        return found ? std::optional(text_of(*found)) : std::nullopt;
    }
    [[gnu::always_inline]] std::optional<std::int64_t> integer(const AttributeName& name) const
    {
        const Value* const found = find_value(name);
        return found && found->is_number ? std::optional<std::int64_t>(found->number) : std::nullopt;
    }
    /// The value as a number, if it is a 64-bit number.
    std::optional<std::int64_t> number(std::size_t position) const
    {
        const Value& value = m_values[position];
        return value.is_number ? std::optional<std::int64_t>(value.number) : std::nullopt;
    }

    /// Throws std::length_error beyond two gigabytes.
    void push_back(std::string_view name, std::string_view value);
    void set_value(std::size_t position, std::string_view value);
    void erase(std::size_t position);
    /// Keeps the memory.
    void clear();

    bool operator==(const AttributeList& other) const;

    /// It is looked at soon.
    void prefetch() const { __builtin_prefetch(m_values.data()); }

  private:
    friend class detail::LineParser;
    friend class detail::StateReader;
    friend class detail::StateWriter;

    using Value = detail::TextValue;
    static constexpr auto none = detail::NameList::none;

    std::string_view text_of(const Value& value) const { return {m_text.data() + value.begin, value.size}; }
    std::string_view value_at(std::size_t position) const { return text_of(m_values[position]); }
    detail::NameList::Position position_of(const AttributeName& name) const
    {
        const auto found = m_names->find(name.key(), name.text());
        return found != none || !name.spellings() ? found : position_of(*name.spellings());
    }
    detail::NameList::Position position_of(const detail::Spellings& spellings) const;
    // Null if there is none. Not an optional number: functions that are not inlined put it together in memory
    // and wait until they can read it.
    const Value* find_value(const AttributeName& name) const
    {
        return may_have(name.bits()) ? find_likely_value(name) : nullptr;
    }
    const Value* find_likely_value(const AttributeName& name) const;
    static std::optional<std::size_t> if_any(detail::NameList::Position position)
    {
        return position == none ? std::nullopt : std::optional<std::size_t>(position);
    }
    std::uint32_t append(std::string_view text);
    static Value value_of(std::uint32_t begin, std::string_view text);

    std::string m_text; ///< with all values
    std::vector<Value> m_values;
    detail::ElementNames m_names;
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
    [[gnu::always_inline]] std::optional<std::string_view> find(const AttributeName& name) const
    {
        return attributes.value(name);
    }
    /// The value as text of its own, empty if there is none.
    std::string text(const AttributeName& name) const { return std::string(find(name).value_or("")); }
    bool has(const AttributeName& name) const { return find(name).has_value(); }
    /// The value that find() finds, as a number; nothing if there is none or it is no 64-bit number.
    [[gnu::always_inline]] std::optional<std::int64_t> integer(const AttributeName& name) const
    {
        return attributes.integer(name);
    }

    bool operator==(const Element&) const = default;
};

} // namespace hdtrace
