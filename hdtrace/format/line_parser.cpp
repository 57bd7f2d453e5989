#include "hdtrace/format/line_parser.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "hdtrace/format/eight_bytes.h"
#include "hdtrace/format/element_forms.h"
#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/spare_items.h"

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

// Of the text from the quote behind a value on: whether no attribute follows.
bool is_end_of_attributes(const char* quote)
{
    const char next = quote[1] == ' ' ? quote[2] : quote[1];
    return next == '/' || next == '>';
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
    if constexpr (has_eight_bytes) {
        for (; end - next >= 8; next += 8)
            if (const std::uint64_t special = special_bytes(eight_bytes(next), quote))
                return next + bytes_before(special);
    }
    while (is(plain, *next) || ((*next == '\'' || *next == '"') && *next != quote))
        ++next;
    return next;
}

// Behind the digits that the text begins with; their number is wrong if they are many.
inline const char* end_of_digits(const char* text, std::int64_t& number)
{
    std::uint64_t value = 0;
    for (; static_cast<unsigned char>(*text - '0') < 10; ++text)
        value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    number = static_cast<std::int64_t>(value);
    return text;
}

// Where the quote behind "2.785230997" is, with six to nine digits behind the point; null if it is anything
// else, or if it is long.
inline const char* end_of_seconds(const char* text, const char* end, std::int64_t& nanoseconds)
{
    constexpr std::ptrdiff_t most_digits = 9, fewest_behind = 6, most_behind = 9;
    constexpr std::int64_t unit[] = {1000, 100, 10, 1};
    std::int64_t seconds = 0, fraction = 0;
    const char* const point = end_of_digits(text, seconds);
    if (point == text || point - text > most_digits || *point != '.' || end - point <= most_behind + 1)
        return nullptr;
    const char* quote = point + most_behind + 1;
    const auto last_digit = static_cast<unsigned char>(*(quote - 1) - '0');
    if (const auto digits = *quote == '\'' && last_digit < 10
                                ? number_of_characters(point + 1, most_behind - 1)
                                : std::nullopt)
        fraction = static_cast<std::int64_t>(*digits * 10 + last_digit);
    else
        quote = end_of_digits(point + 1, fraction);
    const std::ptrdiff_t digits_behind = quote - point - 1;
    if (*quote != '\'' || digits_behind < fewest_behind || digits_behind > most_behind)
        return nullptr;
    nanoseconds = seconds * 1'000'000'000 + fraction * unit[digits_behind - fewest_behind];
    return quote;
}

inline bool LineParser::parse_entry(State& state, int depth)
{
    if (!m_notes || !parse_noted(state, &state))
        return parse_other_entry(state, depth);
    shorten(state.nested, 0, m_spare_states);
    return parse_rest(state);
}

bool LineParser::parse(std::string_view line, std::int64_t number, State& state, const NotedLine& noted)
{
    if (!line.ends_with('\n'))
        return false;
    m_next = line.data();
    m_end = line.data() + line.size();
    m_number = number;
    m_items = 0;
    m_is_exact = true;
    m_notes = noted.notes;
    m_noted_begin = noted.begin;
    m_begin = line.data();
    m_noted = noted.next;
    m_noted_at = m_begin;
    m_is_valid = true;
    if (!parse_entry(state, 0))
        return false;
    if (m_next != m_end - 1) { // as hardly ever
        skip_blanks();
        skip("\r");
    }
    return m_next == m_end - 1;
}

bool LineParser::parse_other_entry(State& state, int depth)
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
    if (m_notes && parse_noted(state, &state))
        return parse_rest(state);
    ElementForms& forms = ElementForms::of_states();
    const char* const begin = m_next;
    m_is_ended = false;
    if (const FormStep* const form = parse_known(state, &state, forms))
        learn(begin, state, &state, *form);
    else if (!parse_new(state, &state, forms))
        return false;
    return parse_rest(state);
}

// What follows the attributes.
inline bool LineParser::parse_rest(State& state)
{
    state.line = m_number;
    if (!m_is_ended)
        return parse_children(state.children, state.name);
    drop_children(state.children);
    return true;
}

// The next state that has some gets their memory.
inline void LineParser::drop_children(std::vector<Element>& children)
{
    if (children.empty())
        return;
    if (m_spare_list.empty())
        std::swap(children, m_spare_list);
    else
        shorten(children, 0, m_spare_children);
}

// The one that an element seems to have; null if there is none.
inline const LineParser::Plan* LineParser::plan_at_next()
{
    if (m_next != m_noted_at || m_noted.value == m_noted.end) {
        m_noted = m_notes->next(m_noted_begin + (m_next - m_begin));
        m_noted_at = m_next;
        if (m_noted.value == m_noted.end)
            return nullptr;
    }
    return m_noted.place < m_plans.size() ? m_plans[m_noted.place].get() : nullptr;
}

// False if a time cannot be.
inline bool LineParser::take_values(const Plan& plan, AttributeList::Value* value, State* state)
{
    const TextNotes::Value* noted = m_noted.value;
    const std::uint32_t before = m_noted.begin;
    for (const Plan::Step& step : plan.steps) {
        if (step.source == Plan::Source::notes) {
            for (std::size_t i = 0; i < step.count; ++i) {
                value[i] = noted[i];
                value[i].begin -= before;
            }
            value += step.count;
            noted += step.count;
        } else if (step.source == Plan::Source::constant) {
            *value = step.value;
            value++->begin += noted == m_noted.value ? 0 : noted[-1].end() - before;
        } else if (__builtin_add_overflow(noted++->number, m_time_adjustment,
                                          step.source == Plan::Source::time ? &state->time : &state->end)) {
            return false;
        }
    }
    m_noted.value = noted;
    return true;
}

// One that is known to consist of values that are known. Goes on behind its attributes or, if it is empty,
// behind all of it. False if it is another one.
bool LineParser::parse_noted(Element& element, State* state)
{
    const Plan* const plan = plan_at_next();
    if (!plan || m_noted.value->begin - m_noted.begin != plan->before ||
        plan->is_state != (state != nullptr) || m_items + 4 + plan->attributes > m_most_items)
        return false;
    AttributeList& list = element.attributes;
    list.m_values.resize(plan->attributes);
    if (!take_values(*plan, list.m_values.data(), state))
        return false;
    if (element.name != plan->name)
        element.name = plan->name;
    if (state && (state->is_event = plan->is_event))
        state->end = state->time;
    if (&*list.m_names != plan->names)
        list.m_names.set(*plan->names);
    const std::uint32_t end = m_noted.value[-1].end() - m_noted.begin; // there was one
    set_text(list, {m_next, end + plan->text_behind});
    m_items += 4 + plan->attributes;
    m_is_ended = plan->is_empty;
    m_is_valid &= plan->is_valid;
    m_next += end + plan->behind;
    m_noted_at = m_next;
    m_noted.begin += end + plan->behind;
    m_noted.place += plan->notes;
    return true;
}

// From an element of a known form, which was parsed up to the end of its attributes.
void LineParser::learn(const char* begin, const Element& element, const State* state, const FormStep& form)
{
    if (!m_notes || begin != m_noted_at || m_noted.value == m_noted.end ||
        m_noted.value->begin - m_noted.begin >= m_next - begin)
        return;
    if (m_plans.size() <= m_noted.place)
        m_plans.resize(m_noted.place + 1);
    std::unique_ptr<const Plan>& plan = m_plans[m_noted.place];
    if (plan)
        return;
    Plan made = plan_of({begin, m_next}, element, state, m_noted);
    made.is_valid = form.is_valid();
    plan = std::make_unique<const Plan>(std::move(made));
}

// One that is written as one before, but for its values. Goes on behind its attributes, and returns the last
// step of its form; else null.
const FormStep* LineParser::parse_known(Element& element, State* state, const ElementForms& forms)
{
    const char* const begin = m_next;
    const char* next = begin;
    const FormStep* last = nullptr;
    AttributeList& list = element.attributes;
    AttributeList::Value *value = list.m_values.data(), *values_end = value + list.size();
    m_is_new_form = false;
    while (m_end - next >= FormStep::room) {
        const FormStep* step = last ? last->next() : forms.first(next);
        while (step && !step->is_start_of(next, m_end - next))
            step = step->other();
        if (!step)
            break;
        last = step;
        next += step->size();
        if (step->value() != ValueKind::attribute) {
            next = end_of_time(next, step->value() == ValueKind::time ? state->time : state->end);
        } else {
            if (value == values_end)
                std::tie(value, values_end) = more_values(list);
            next = end_of_value(next, begin, *value++);
        }
        if (!next)
            return nullptr;
    }
    const auto count = static_cast<std::size_t>(value - list.m_values.data());
    m_is_new_form = !last || !is_end_of_attributes(next);
    if (m_is_new_form || (state && !last->is_whole_state()) || m_items + 4 + count > m_most_items)
        return nullptr;
    if (element.name != last->owner())
        element.name = last->owner();
    if (state && (state->is_event = last->is_event()))
        state->end = state->time;
    if (&*list.m_names != &last->names())
        list.m_names.set(last->names());
    list.m_values.resize(count);
    set_text(list, {begin, next});
    m_items += 4 + count; // with the times, and <Nested> around it
    m_is_valid &= last->is_valid();
    m_next = next + (next[1] == ' ' ? 2 : 1);
    return last;
}

// Behind it there may be some bytes of others.
inline void LineParser::set_text(AttributeList& list, std::string_view text)
{
    constexpr std::size_t most_others = 256;
    if (list.m_text.size() < text.size() || list.m_text.size() > text.size() + most_others)
        list.m_text.resize(text.size());
    text.copy(list.m_text.data(), text.size());
}

// The first of some more values, and where they end.
std::pair<AttributeList::Value*, AttributeList::Value*> LineParser::more_values(AttributeList& list)
{
    constexpr std::size_t more = 8;
    const std::size_t before = list.size();
    list.m_values.resize(before + more);
    return {list.m_values.data() + before, list.m_values.data() + before + more};
}

inline const char* LineParser::end_of_time(const char* seconds, std::int64_t& moment) const
{
    std::int64_t nanoseconds = 0;
    const char* const quote = end_of_seconds(seconds, m_end, nanoseconds);
    return quote && !__builtin_add_overflow(nanoseconds, m_time_adjustment, &moment) ? quote : nullptr;
}

// Null for values that are not as they are in the line.
inline const char* LineParser::end_of_value(const char* text, const char* begin,
                                            AttributeList::Value& value) const
{
    const auto digit = static_cast<unsigned char>(*text - '0');
    const auto begin_of_value = static_cast<std::uint32_t>(text - begin);
    if (digit < 10 && text[1] == '\'') { // as most are
        value = {begin_of_value, 1, true, digit};
        return text + 1;
    }
    if (const unsigned size = m_end - text >= 8 ? characters_before(text, '\'') : 0)
        if (const auto number = number_of_characters(text, size)) {
            value = {begin_of_value, size, true, static_cast<std::int64_t>(*number)};
            return text + size;
        }
    const char* const end = end_of_plain(text, m_end, '\'');
    if (*end != '\'' || end - text > longest_value)
        return nullptr;
    value = AttributeList::value_of(begin_of_value, {text, end});
    return end;
}

// One of any form, which is a known one then.
bool LineParser::parse_new(Element& element, State* state, ElementForms& forms)
{
    const char* const begin = m_next;
    m_is_valid = false; // not known
    if (!skip("<"))
        return false;
    const std::string_view name = parse_name();
    if (name.empty() || (state && name == "Nested"))
        return false;
    element.name.assign(name);
    if (state)
        state->is_event = name == "Event";
    m_behind_values = begin;
    if (!parse_attributes(element.attributes, state))
        return false;
    if (m_is_new_form && m_additions > 0 && element.attributes.m_names->is_shared()) {
        --m_additions;
        forms.add({begin, m_behind_values}, *element.attributes.m_names);
    }
    return true;
}

bool LineParser::parse_children(std::vector<Element>& children, std::string_view owner)
{
    if (skip("/>")) {
        drop_children(children);
        return true;
    }
    if (!skip(">"))
        return false;
    if (children.empty())
        std::swap(children, m_spare_list);
    std::size_t count = 0;
    for (skip_blanks(); !skip("</"); skip_blanks())
        if (!parse_child(item_at(children, count++, m_spare_children)))
            return false;
    if (!skip(owner) || !skip(">"))
        return false;
    shorten(children, count, m_spare_children);
    return true;
}

bool LineParser::parse_child(Element& child)
{
    if (m_notes && parse_noted(child, nullptr)) {
        if (m_is_ended)
            return true;
    } else {
        ElementForms& forms = ElementForms::of_children();
        const char* const begin = m_next;
        if (const FormStep* const form = parse_known(child, nullptr, forms))
            learn(begin, child, nullptr, *form);
        else if (!parse_new(child, nullptr, forms))
            return false;
    }
    return skip("/>") || (skip("></") && skip(child.name) && skip(">"));
}

/// The attributes of an element while they are read.
struct LineParser::Reading {
    AttributeList& list;
    State* state; ///< that gets the times, which the list does not get; may be null
    bool has_time = false, has_end = false;
};

bool LineParser::parse_attributes(AttributeList& attributes, State* state)
{
    Reading reading{.list = attributes, .state = state};
    attributes.clear();
    while (skip_blanks() && is(name_start, *m_next))
        if (!parse_attribute(reading))
            return false;
    m_items += 4 + attributes.size(); // with the times, and <Nested> around it
    if (m_items > m_most_items)
        return false;
    if (state && state->is_event)
        state->end = state->time;
    return !state || (reading.has_time && (reading.has_end || state->is_event));
}

bool LineParser::parse_attribute(Reading& reading)
{
    const std::string_view name = parse_name();
    std::string_view value;
    if (name.starts_with("xmlns") || !parse_value(value))
        return false;
    m_behind_values = m_next;
    if (reading.state && name == "time")
        return !std::exchange(reading.has_time, true) && to_time(value, reading.state->time);
    if (reading.state && name == "end" && !reading.state->is_event)
        return !std::exchange(reading.has_end, true) && to_time(value, reading.state->end);
    if (reading.list.find_exactly(name) || reading.list.size() == most_attributes)
        return false;
    reading.list.push_back(name, value);
    return true;
}

bool LineParser::parse_value(std::string_view& value)
{
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
