#include "hdtrace/format/element.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

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

std::optional<std::size_t> AttributeList::find(const AttributeName& name) const
{
    auto found = find_exactly(name);
    if (!found && name.spellings())
        for (const std::string_view spelling : *name.spellings())
            if (!found && !spelling.empty())
                found = find_key(detail::key_of_name(spelling), spelling);
    return found;
}

std::optional<std::size_t> AttributeList::find_key(detail::NameKey key, std::string_view name) const
{
    const std::size_t count = m_places.size();
    for (std::size_t i = 0; i < count; ++i) {
        const Place& place = m_places[i];
        if (place.key == key && (!(key & detail::not_exact) || text(place.name, place.name_size) == name))
            return i;
    }
    return {};
}

bool AttributeList::may_have_key(detail::NameKey key) const
{
    return may_have(detail::bit_of_key(key)) &&
           std::ranges::any_of(m_places, [&](const Place& place) { return place.key == key; });
}

std::uint32_t AttributeList::append(std::string_view text)
{
    const std::size_t begin = m_text.size();
    if (text.size() > std::numeric_limits<std::uint32_t>::max() - begin)
        throw std::length_error("attributes of more than four gigabytes");
    m_text += text;
    return static_cast<std::uint32_t>(begin);
}

void AttributeList::push_back(std::string_view name, std::string_view value)
{
    Place place;
    place.key = detail::key_of_name(name);
    place.name = append(name);
    place.name_size = static_cast<std::uint32_t>(name.size());
    place.value = append(value);
    place.value_size = static_cast<std::uint32_t>(value.size());
    add(place, value);
}

// The value is given because the text may still have to be copied.
void AttributeList::add(const Place& place, std::string_view value)
{
    Place& added = m_places.emplace_back(place);
    m_names |= detail::bit_of_key(place.key);
    set_number(added, value);
}

void AttributeList::set_value(std::size_t position, std::string_view value)
{
    Place& place = m_places[position];
    place.value = append(value);
    place.value_size = static_cast<std::uint32_t>(value.size());
    set_number(place, value);
}

void AttributeList::set_number(Place& place, std::string_view value)
{
    const auto number = number_in(value);
    place.is_number = number.has_value();
    place.number = number.value_or(0);
}

// The bit of its name stays, which others may have, too.
void AttributeList::erase(std::size_t position)
{
    m_places.erase(m_places.begin() + static_cast<std::ptrdiff_t>(position));
}

void AttributeList::clear()
{
    m_text.clear();
    m_places.clear();
    m_names = 0;
}

bool AttributeList::operator==(const AttributeList& other) const
{
    return std::ranges::equal(*this, other);
}

} // namespace hdtrace
