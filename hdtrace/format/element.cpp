#include "hdtrace/format/element.h"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

namespace hdtrace {
namespace {

// Most values are small numbers or no numbers.
std::optional<std::int64_t> number_in(std::string_view text)
{
    constexpr std::size_t digits_that_fit = 18;
    const bool is_negative = text.starts_with('-');
    if (text.size() > digits_that_fit) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                        : std::nullopt;
    }
    std::int64_t number = 0;
    const std::string_view digits = text.substr(is_negative ? 1 : 0);
    for (const char digit : digits) {
        if (digit < '0' || digit > '9')
            return {};
        number = number * 10 + (digit - '0');
    }
    return digits.empty() ? std::nullopt : std::optional(is_negative ? -number : number);
}

} // namespace

AttributeList::AttributeList(std::initializer_list<Attribute> attributes)
{
    for (const Attribute& attribute : attributes)
        push_back(attribute.name, attribute.value);
}

const AttributeList::Value* AttributeList::find_likely_value(const AttributeName& name) const
{
    const auto position = position_of(name);
    return position == none ? nullptr : &m_values[position];
}

detail::NameList::Position AttributeList::position_of(const detail::Spellings& spellings) const
{
    for (const std::string_view spelling : spellings) {
        if (spelling.empty())
            break;
        const auto position = m_names->find(detail::key_of_name(spelling), spelling);
        if (position != none)
            return position;
    }
    return none;
}

std::uint32_t AttributeList::append(std::string_view text)
{
    const std::size_t begin = m_text.size();
    if (text.size() > std::numeric_limits<std::int32_t>::max() - begin)
        throw std::length_error("attributes of more than two gigabytes");
    m_text += text;
    return static_cast<std::uint32_t>(begin);
}

void AttributeList::push_back(std::string_view name, std::string_view value)
{
    m_values.push_back(value_of(append(value), value));
    m_names.add(name);
}

void AttributeList::set_value(std::size_t position, std::string_view value)
{
    m_values[position] = value_of(append(value), value);
}

AttributeList::Value AttributeList::value_of(std::uint32_t begin, std::string_view text)
{
    const auto number = number_in(text);
    return {.begin = begin,
            .size = static_cast<std::uint32_t>(text.size()),
            .is_number = number.has_value(),
            .number = number.value_or(0)};
}

void AttributeList::erase(std::size_t position)
{
    detail::ElementNames left;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != position)
            left.add((*m_names)[i]);
    m_names = std::move(left);
    m_values.erase(m_values.begin() + static_cast<std::ptrdiff_t>(position));
}

void AttributeList::clear()
{
    m_text.clear();
    m_values.clear();
    m_names.set(detail::NameList::empty());
}

bool AttributeList::operator==(const AttributeList& other) const
{
    const bool are_shared = m_names->is_shared() && other.m_names->is_shared();
    if (are_shared ? &*m_names != &*other.m_names : size() != other.size())
        return false;
    for (std::size_t i = 0; i < size(); ++i)
        if (value_at(i) != other.value_at(i) || (!are_shared && (*m_names)[i] != (*other.m_names)[i]))
            return false;
    return true;
}

} // namespace hdtrace
