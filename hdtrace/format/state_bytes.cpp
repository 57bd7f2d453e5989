#include "hdtrace/format/state_bytes.h"

#include <algorithm>

#include "hdtrace/format/spare_items.h"

namespace hdtrace::detail {
namespace {

/// Of names that do not get a number, since their list is not shared. Others are told as 1 more.
constexpr std::uint64_t no_number = 0;

} // namespace

void StateWriter::put(const State& state, ByteWriter& bytes)
{
    put_element(state, bytes);
    bytes.put_difference(state.time, m_time);
    bytes.put_difference(state.end, state.time);
    m_time = state.time;
    bytes.put_number(state.line);
    bytes.put_count(state.children.size() << 1 | (state.is_event ? 1 : 0));
    bytes.put_count(state.nested.size());
    for (const Element& child : state.children)
        put_element(child, bytes);
    for (const State& nested : state.nested)
        put(nested, bytes);
}

void StateWriter::put_element(const Element& element, ByteWriter& bytes)
{
    put_names(element, bytes);
    put_values(element.attributes, bytes);
}

void StateWriter::put_names(const Element& element, ByteWriter& bytes)
{
    const NameList& names = *element.attributes.m_names;
    if (!names.is_shared()) {
        bytes.put_count(no_number);
    } else {
        auto& known = m_numbers[&names];
        const auto found = std::ranges::find(
            known, element.name, [](const auto& one) -> auto& { return one.first; });
        if (found != known.end())
            return bytes.put_count(found->second);
        known.emplace_back(element.name, ++m_count);
        bytes.put_count(m_count);
    }
    bytes.put_text(element.name);
    bytes.put_count(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        bytes.put_text(names[i]);
}

void StateWriter::put_values(const AttributeList& attributes, ByteWriter& bytes)
{
    for (const TextValue& value : attributes.m_values) {
        bytes.put_count(std::uint64_t{value.size} << 1 | value.is_number);
        if (value.is_number)
            bytes.put_number(value.number);
    }
    for (std::size_t i = 0; i < attributes.size(); ++i)
        bytes.append(attributes.value_at(i));
}

void StateReader::take(ByteReader& bytes, State& state)
{
    take_element(bytes, state);
    m_time = bytes.take_difference(m_time);
    state.time = m_time;
    state.end = bytes.take_difference(m_time);
    state.line = bytes.take_number();
    const std::uint64_t children_and_event = bytes.take_count();
    const std::uint64_t children = children_and_event >> 1, nested = bytes.take_count();
    state.is_event = children_and_event & 1;
    for (std::uint64_t i = 0; i < children; ++i)
        take_element(bytes, item_at(state.children, i, m_spare_children));
    shorten(state.children, children, m_spare_children);
    for (std::uint64_t i = 0; i < nested; ++i)
        take(bytes, item_at(state.nested, i, m_spare_states));
    shorten(state.nested, nested, m_spare_states);
}

void StateReader::take_element(ByteReader& bytes, Element& element)
{
    const std::uint64_t number = bytes.take_count();
    if (number == no_number) {
        Names names = take_names(bytes);
        element.name = std::move(names.element);
        element.attributes.m_names = std::move(names.attributes);
    } else {
        if (number > m_names.size())
            m_names.push_back(take_names(bytes));
        const Names& names = m_names.at(number - 1);
        element.name = names.element;
        element.attributes.m_names = names.attributes;
    }
    take_values(bytes, element.attributes);
}

StateReader::Names StateReader::take_names(ByteReader& bytes)
{
    Names names;
    names.element = bytes.take_text();
    for (std::uint64_t count = bytes.take_count(); count > 0; --count)
        names.attributes.add(bytes.take_text());
    return names;
}

void StateReader::take_values(ByteReader& bytes, AttributeList& attributes)
{
    attributes.m_values.resize(attributes.m_names->size());
    std::uint32_t end = 0;
    for (TextValue& value : attributes.m_values) {
        const std::uint64_t size_and_kind = bytes.take_count();
        value.begin = end;
        value.size = static_cast<std::uint32_t>(size_and_kind >> 1);
        value.is_number = size_and_kind & 1;
        value.number = value.is_number ? bytes.take_number() : 0;
        end += value.size;
    }
    attributes.m_text = bytes.take_bytes(end);
}

} // namespace hdtrace::detail
