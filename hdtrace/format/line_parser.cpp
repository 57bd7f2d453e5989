#include "hdtrace/format/line_parser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "hdtrace/format/nanoseconds.h"

namespace hdtrace::detail {
namespace {

// XmlReader and libxml2 have larger limits of their own, beyond which they report errors.
constexpr int most_depth = 100;
constexpr std::size_t longest_name = 1000;
constexpr std::size_t most_attributes = 900;
constexpr std::ptrdiff_t longest_value = 1'000'000;

enum : std::uint8_t { name_start = 1, name_part = 2, plain = 4 };

constexpr std::array<std::uint8_t, 256> make_character_kinds()
{
    std::array<std::uint8_t, 256> kinds{};
    for (int c = ' '; c <= 0x7f; ++c)
        if (c != '<' && c != '&' && c != '\'' && c != '"')
            kinds[c] |= plain;
    for (int c = 'a'; c <= 'z'; ++c)
        kinds[c] |= name_start | name_part;
    for (int c = 'A'; c <= 'Z'; ++c)
        kinds[c] |= name_start | name_part;
    for (int c = '0'; c <= '9'; ++c)
        kinds[c] |= name_part;
    kinds['_'] |= name_start | name_part;
    kinds['-'] |= name_part;
    kinds['.'] |= name_part;
    return kinds;
}

constexpr auto character_kinds = make_character_kinds();

bool is(std::uint8_t kind, char c)
{
    return character_kinds[static_cast<unsigned char>(c)] & kind;
}

// Eight bytes at a time: the highest bit of each byte in a result says whether something holds for it.
constexpr std::uint64_t every_byte = 0x0101010101010101;
constexpr std::uint64_t highest_bits = 0x80 * every_byte;

// Right for the first byte below and all before it, if no byte before it has its highest bit set.
constexpr std::uint64_t bytes_below(std::uint64_t bytes, unsigned char limit)
{
    return (bytes - limit * every_byte) & ~bytes & highest_bits;
}

constexpr std::uint64_t bytes_equal(std::uint64_t bytes, char c)
{
    return bytes_below(bytes ^ (static_cast<unsigned char>(c) * every_byte), 1);
}

// Bytes that may be no part of a value between such quotes; the first one is certainly found.
std::uint64_t special_bytes(std::uint64_t bytes, char quote)
{
    return bytes_equal(bytes, quote) | bytes_equal(bytes, '&') | bytes_equal(bytes, '<') |
           bytes_below(bytes, ' ') | (bytes & highest_bits);
}

constexpr std::pair<std::string_view, char> references[] = {
    {"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'},  {"&apos;", '\''},
    {"&quot;", '"'}, {"&#10;", '\n'}, {"&#13;", '\r'}, {"&#9;", '\t'},
};

bool is_reserved(std::string_view name)
{
    return name == "Event" || name == "Nested" || name == "Program";
}

bool is_valid_child(const Element& child)
{
    return !is_reserved(child.name) && !child.attributes.find_exactly("time") &&
           !child.attributes.find_exactly("end");
}

bool is_valid_event(const State& event)
{
    bool has_name = false, is_end = false;
    for (const Attribute& attribute : event.attributes) {
        if (attribute.name == "end")
            return false;
        has_name = has_name || attribute.name == "name";
        is_end = is_end || (attribute.name == "kind" && attribute.value == "end");
    }
    return has_name && event.nested.empty() && (is_end || event.children.empty());
}

// Of a time that can be read: six to nine digits behind the point, and no sign.
bool has_all_digits(std::string_view seconds)
{
    for (const std::size_t digits : {9, 8, 7, 6})
        if (seconds.size() > digits + 1 && seconds[seconds.size() - digits - 1] == '.')
            return seconds.front() != '-';
    return false;
}

// The item at @p position, which is at most one behind the last.
template <class Item> Item& item_at(std::vector<Item>& items, std::size_t position, std::vector<Item>& spare)
{
    if (position < items.size())
        return items[position];
    if (spare.empty())
        return items.emplace_back();
    items.push_back(std::move(spare.back()));
    spare.pop_back();
    return items.back();
}

template <class Item> void shorten(std::vector<Item>& items, std::size_t count, std::vector<Item>& spare)
{
    while (items.size() > count) {
        spare.push_back(std::move(items.back()));
        items.pop_back();
    }
}

} // namespace

inline std::string_view LineParser::parse_name()
{
    const char* const begin = m_next;
    if (!is(name_start, *begin))
        return {};
    const char* next = begin + 1;
    while (is(name_part, *next))
        ++next;
    m_next = next;
    const std::size_t size = next - begin;
    return {begin, size <= longest_name ? size : 0};
}

// Stops at the line feed, which no text contains.
inline bool LineParser::skip(std::string_view text)
{
    const char* const begin = m_next;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (begin[i] != text[i])
            return false;
    m_next = begin + text.size();
    return true;
}

inline bool LineParser::skip_blanks()
{
    const char* next = m_next;
    while (*next == ' ' || *next == '\t')
        ++next;
    return std::exchange(m_next, next) != next;
}

// Where in a value stands what cannot stand there as it is, such as its end. The line feed is before @p end.
inline const char* end_of_plain(const char* next, const char* end, char quote)
{
    if constexpr (std::endian::native == std::endian::little) {
        for (std::uint64_t bytes; end - next >= std::ptrdiff_t{sizeof bytes}; next += sizeof bytes) {
            std::memcpy(&bytes, next, sizeof bytes);
            if (const std::uint64_t special = special_bytes(bytes, quote))
                return next + std::countr_zero(special) / 8;
        }
    }
    while (is(plain, *next) || ((*next == '\'' || *next == '"') && *next != quote))
        ++next;
    return next;
}

// Behind the digits, and a sign before them, of a number that certainly fits; @p text itself if they are
// more.
inline const char* end_of_number(const char* text, std::int64_t& number)
{
    constexpr std::ptrdiff_t most_digits = 18;
    const bool is_negative = *text == '-';
    const char* const digits = text + (is_negative ? 1 : 0);
    const char* next = digits;
    std::uint64_t value = 0;
    for (; static_cast<unsigned char>(*next - '0') < 10; ++next)
        value = value * 10 + static_cast<std::uint64_t>(*next - '0');
    if (next == digits || next - digits > most_digits)
        return text;
    number = is_negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return next;
}

// Where the quote behind "2.785230997" is; null if it is anything else, or if it is long.
inline const char* end_of_seconds(const char* text, const char* end, std::int64_t& nanoseconds)
{
    constexpr std::ptrdiff_t most_digits = 9, digits_behind = 9;
    std::int64_t seconds = 0, fraction = 0;
    const char* const point = end_of_number(text, seconds);
    if (*text == '-' || point == text || point - text > most_digits || *point != '.' ||
        end - point < digits_behind + 2)
        return nullptr;
    const char* const quote = end_of_number(point + 1, fraction);
    if (point[1] == '-' || quote - point != digits_behind + 1 || *quote != '\'')
        return nullptr;
    nanoseconds = seconds * 1'000'000'000 + fraction;
    return quote;
}

bool LineParser::parse(std::string_view line, std::int64_t number, State& state)
{
    if (!line.ends_with('\n'))
        return false;
    m_next = line.data();
    m_end = line.data() + line.size();
    m_number = number;
    m_items = 0;
    m_is_exact = true;
    if (!parse_entry(state, 0))
        return false;
    skip_blanks();
    skip("\r");
    return m_next == m_end - 1;
}

bool LineParser::parse_entry(State& state, int depth)
{
    skip_blanks();
    int count_of_nested = 0;
    if (!parse_nested(state.nested, depth, count_of_nested) || !parse_state(state))
        return false;
    m_is_exact = m_is_exact && count_of_nested <= (state.is_event ? 0 : 1);
    return true;
}

bool LineParser::parse_nested(std::vector<State>& states, int depth, int& count_of_nested)
{
    std::size_t count = 0;
    for (; skip("<Nested>"); ++count_of_nested) {
        if (depth == most_depth)
            return false;
        for (skip_blanks(); !skip("</Nested>"); skip_blanks())
            if (!parse_entry(item_at(states, count++, m_spare_states), depth + 1))
                return false;
        skip_blanks();
    }
    shorten(states, count, m_spare_states);
    return true;
}

bool LineParser::parse_state(State& state)
{
    if (!skip("<"))
        return false;
    const std::string_view name = parse_name();
    if (name.empty() || name == "Nested")
        return false;
    state.name.assign(name);
    state.line = m_number;
    state.is_event = name == "Event";
    if (!parse_attributes(state.attributes, name, &state))
        return false;
    return parse_children(state.children, name);
}

bool LineParser::parse_children(std::vector<Element>& children, std::string_view owner)
{
    std::size_t count = 0;
    if (!skip("/>")) {
        if (!skip(">"))
            return false;
        for (skip_blanks(); !skip("</"); skip_blanks())
            if (!parse_child(item_at(children, count++, m_spare_children)))
                return false;
        if (!skip(owner) || !skip(">"))
            return false;
    }
    shorten(children, count, m_spare_children);
    return true;
}

bool LineParser::parse_child(Element& child)
{
    if (!skip("<"))
        return false;
    const std::string_view name = parse_name();
    if (name.empty())
        return false;
    child.name.assign(name);
    if (!parse_attributes(child.attributes, name, nullptr))
        return false;
    return skip("/>") || (skip("></") && skip(name) && skip(">"));
}

/// The attributes of an element while they are read.
struct LineParser::Reading {
    AttributeList& list;
    State* state;             ///< that gets the times, which the list does not get; may be null
    const char* begin;        ///< in the line
    const NameList* expected; ///< null once there was another name
    bool is_one_piece = true; ///< the list gets its text in one piece: the values are as they are in the line
    bool has_time = false, has_end = false;
};

bool LineParser::parse_attributes(AttributeList& attributes, std::string_view owner, State* state)
{
    const NameList*& expected = m_expected[slot_of_key(key_of_name(owner))];
    Reading reading{.list = attributes, .state = state, .begin = m_next, .expected = expected};
    attributes.clear();
    while (skip_blanks() && is(name_start, *m_next))
        if (!parse_expected(reading) && !parse_usual_time(reading) && !parse_attribute(reading))
            return false;
    if (reading.expected)
        attributes.m_names.set(expected->first(attributes.size()));
    else if (attributes.m_names->is_shared())
        expected = &*attributes.m_names;
    if (reading.is_one_piece)
        attributes.m_text.assign(reading.begin, m_next);
    m_items += 4 + attributes.size(); // with the times, and <Nested> around it
    if (m_items > m_most_items)
        return false;
    if (state && state->is_event)
        state->end = state->time;
    return !state || (reading.has_time && (reading.has_end || state->is_event));
}

// As most are: the name that is expected next, and a value as our writer writes it.
inline bool LineParser::parse_expected(Reading& reading)
{
    const std::size_t position = reading.list.size();
    if (!reading.expected || position == reading.expected->size() ||
        !reading.expected->is_start_of(m_next, m_end - m_next, position))
        return false;
    const char* const begin = m_next + reading.expected->start_size(position);
    AttributeList::Value value;
    const char* end = end_of_number(begin, value.number);
    value.is_number = *end == '\'' && end != begin;
    if (!value.is_number) {
        end = end_of_plain(begin, m_end, '\'');
        if (*end != '\'' || end - begin > longest_value)
            return false;
        value = AttributeList::value_of(0, {begin, end});
    }
    add_value(reading, {begin, end}, value);
    m_next = end + 1;
    return true;
}

// As our writer writes them: seconds with all their digits.
inline bool LineParser::parse_usual_time(Reading& reading)
{
    constexpr std::string_view time = "time='", end = "end='";
    if (!reading.state)
        return false;
    const char* const before = m_next;
    const bool is_time = !reading.has_time && skip(time);
    const bool is_end = !is_time && !reading.has_end && !reading.state->is_event && skip(end);
    std::int64_t nanoseconds = 0;
    const char* const behind = is_time || is_end ? end_of_seconds(m_next, m_end, nanoseconds) : nullptr;
    std::int64_t& moment = is_time ? reading.state->time : reading.state->end;
    if (!behind || __builtin_add_overflow(nanoseconds, m_time_adjustment, &moment)) {
        m_next = before;
        return false;
    }
    (is_time ? reading.has_time : reading.has_end) = true;
    m_next = behind + 1;
    return true;
}

bool LineParser::parse_attribute(Reading& reading)
{
    const std::string_view name = parse_name();
    std::string_view value;
    if (name.starts_with("xmlns") || !parse_value(value))
        return false;
    if (reading.state && name == "time")
        return !std::exchange(reading.has_time, true) && to_time(value, reading.state->time);
    if (reading.state && name == "end" && !reading.state->is_event)
        return !std::exchange(reading.has_end, true) && to_time(value, reading.state->end);
    if (!add_name(reading, name))
        return false;
    add_value(reading, value, name.data());
    return true;
}

bool LineParser::add_name(Reading& reading, std::string_view name)
{
    AttributeList& list = reading.list;
    if (const NameList* const expected = reading.expected) {
        if (list.size() < expected->size() && (*expected)[list.size()] == name)
            return true;
        list.m_names.set(expected->first(list.size()));
        reading.expected = nullptr;
    }
    if (list.find_key(key_of_name(name), name) || list.size() == most_attributes)
        return false;
    list.m_names.add(name);
    return true;
}

inline void LineParser::add_value(Reading& reading, std::string_view value, const char* name)
{
    AttributeList& list = reading.list;
    if (reading.is_one_piece && value.data() == m_decoded.data()) {
        list.m_text.assign(reading.begin, name);
        reading.is_one_piece = false;
    }
    add_value(reading, value, AttributeList::value_of(0, value));
}

inline void LineParser::add_value(Reading& reading, std::string_view text, AttributeList::Value value) const
{
    AttributeList& list = reading.list;
    value.begin =
        reading.is_one_piece ? static_cast<std::uint32_t>(text.data() - reading.begin) : list.append(text);
    value.size = static_cast<std::uint32_t>(text.size());
    list.m_values.push_back(value);
}

bool LineParser::parse_value(std::string_view& value)
{
    if (m_next[0] == '=' && m_next[1] == '\'') { // as our writer writes it
        const char* const begin = m_next + 2;
        const char* const end = end_of_plain(begin, m_end, '\'');
        if (*end == '\'') {
            value = {begin, static_cast<std::size_t>(end - begin)};
            m_next = end + 1;
            return std::ssize(value) <= longest_value;
        }
    }
    skip_blanks();
    if (!skip("="))
        return false;
    skip_blanks();
    const char quote = *m_next;
    if (quote != '\'' && quote != '"')
        return false;
    const char* begin = ++m_next;
    bool has_references = false;
    for (;;) {
        m_next = end_of_plain(m_next, m_end, quote);
        if (*m_next == quote)
            break;
        if (!std::exchange(has_references, true))
            m_decoded.clear();
        m_decoded.append(begin, m_next);
        if (!decode_reference())
            return false;
        begin = m_next;
    }
    value = {begin, static_cast<std::size_t>(m_next - begin)};
    if (has_references)
        value = m_decoded.append(value);
    ++m_next;
    return std::ssize(value) <= longest_value;
}

bool LineParser::decode_reference()
{
    for (const auto& [reference, character] : references)
        if (skip(reference)) {
            m_decoded += character;
            return true;
        }
    return false;
}

bool LineParser::to_time(std::string_view seconds, std::int64_t& time)
{
    m_is_exact = m_is_exact && has_all_digits(seconds);
    const auto relative = parse_time(seconds);
    return relative && !__builtin_add_overflow(*relative, m_time_adjustment, &time);
}

bool is_valid_entry(const State& entry)
{
    return (entry.is_event ? is_valid_event(entry) : !is_reserved(entry.name)) &&
           std::ranges::all_of(entry.children, is_valid_child) &&
           std::ranges::all_of(entry.nested, is_valid_entry);
}

} // namespace hdtrace::detail
