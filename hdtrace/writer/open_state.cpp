#include "hdtrace/writer/open_state.h"

#include "hdtrace/writer/program_memory.h"
#include "hdtrace/writer/text.h"

#include <algorithm>
#include <iterator>

namespace hdtrace {

namespace {

constexpr size_t longest_string = 4096;

// The items of child elements, which are read some at a time: there may be very many that have no number.
class Items {
  public:
    Items(const Argument& argument, const char* items, int64_t count)
        : m_argument(argument), m_items(items), m_count(count)
    {
    }

    // False if it is not there any more.
    bool get(int64_t index, int64_t& item)
    {
        if (index >= m_end && !read_from(index))
            return false;
        memcpy(&item, m_block + static_cast<size_t>(index - m_begin) * m_argument.stride,
               m_argument.item_size);
        return true;
    }

  private:
    bool read_from(int64_t index)
    {
        const size_t most_behind = (sizeof m_block - m_argument.item_size) / m_argument.stride;
        const auto behind = std::min(static_cast<size_t>(m_count - index - 1), most_behind);
        m_begin = index;
        m_end = index + static_cast<int64_t>(behind) + 1;
        return copy_from_program(m_block, m_items + static_cast<size_t>(index) * m_argument.stride,
                                 behind * m_argument.stride + m_argument.item_size);
    }

    const Argument& m_argument;
    const char* const m_items;
    const int64_t m_count;
    int64_t m_begin = 0, m_end = 0; // which ones are in the block
    char m_block[512];              // a signal handler's stack may be small
};

// Appends to memory that has an end.
class BoundedText {
  public:
    BoundedText(char* out, const char* limit) : m_out(out), m_limit(limit) {}

    char* out() const { return m_out; }
    bool has_room(size_t size) const
    {
        return m_out < m_limit && static_cast<size_t>(m_limit - m_out) >= size;
    }
    void cut(char* out) { m_out = out; }
    void text(const char* text, size_t size)
    {
        memcpy(m_out, text, size);
        m_out += size;
    }
    void text(const char* constant) { m_out = put_constant(m_out, constant); }
    void number(int64_t value) { m_out = put_number(m_out, value); }

    // An attribute, or nothing.
    void attribute(const Argument& argument, const int64_t* values)
    {
        char* const before = m_out;
        if (!has_room(strlen(argument.start) + 1))
            return;
        text(argument.start);
        if (value(argument, values) && has_room(1))
            text("'", 1);
        else
            cut(before);
    }

    // A child element like others of this argument, with an attribute.
    void child(const Argument& argument, int64_t number)
    {
        text(argument.start);
        end_child(number);
    }
    void child(const Argument& argument, const char* other_attribute, int64_t number)
    {
        text(argument.start, static_cast<size_t>(strchr(argument.start, ' ') - argument.start));
        text(other_attribute);
        end_child(number);
    }
    bool has_room_for_two(const Argument& children) const
    {
        return has_room(2 * (strlen(children.start) + max_number_length + strlen(" more='' />")));
    }

  private:
    void end_child(int64_t number_value)
    {
        number(number_value);
        text("' />");
    }
    bool value(const Argument& argument, const int64_t* values)
    {
        using Kind = Argument::Kind;
        switch (argument.kind) {
        case Kind::number:
            return one_number(values[0]);
        case Kind::text:
            return constant(reinterpret_cast<const char*>(values[0]));
        case Kind::one_of:
        case Kind::any_of:
            return names(argument, static_cast<int>(values[0]));
        case Kind::string:
            return string(reinterpret_cast<const char*>(values[0]));
        case Kind::numbers:
            return numbers(argument, reinterpret_cast<const char*>(values[0]), values[1]);
        case Kind::found:
            return found(argument.find(values, reinterpret_cast<const void*>(values[1]), 0));
        case Kind::children:
            break;
        }
        return false;
    }
    bool one_number(int64_t value)
    {
        const bool fits = has_room(max_number_length + 1);
        if (fits)
            number(value);
        return fits;
    }
    bool found(int64_t value) { return value >= 0 && one_number(value); }
    bool constant(const char* constant)
    {
        const bool fits = has_room(strlen(constant) + 1);
        if (fits)
            text(constant);
        return fits;
    }
    bool names(const Argument& argument, int value)
    {
        const bool fits = has_room(room_for_names(argument.names) + 1);
        if (fits)
            m_out = argument.kind == Argument::Kind::one_of ? put_name(m_out, argument.names, value)
                                                            : put_names(m_out, argument.names, value);
        return fits;
    }
    bool string(const char* place)
    {
        char copy[longest_string];
        const long length = place != nullptr ? copy_string_from_program(copy, place, sizeof copy) : 0;
        const bool is_whole = length >= 0 && static_cast<size_t>(length) < sizeof copy;
        const bool fits = is_whole && has_room(static_cast<size_t>(length) * max_escape_length + 1);
        if (fits)
            m_out = put_xml_escaped(m_out, copy, static_cast<size_t>(length));
        return fits;
    }
    bool numbers(const Argument& argument, const char* place, int64_t count)
    {
        constexpr int64_t most_at_once = 256;
        int copy[most_at_once];
        while (count > 0 && place != nullptr) {
            const int64_t now = count < most_at_once ? count : most_at_once;
            const size_t bytes = static_cast<size_t>(now) * sizeof(int);
            if (!has_room(static_cast<size_t>(now) * (max_number_length + 1) + 1) ||
                !copy_from_program(copy, place, bytes))
                return false;
            for (int64_t i = 0; i < now; ++i) {
                number(argument.meaning != nullptr ? argument.meaning(copy[i]) : copy[i]);
                text(";", 1);
            }
            place += bytes;
            count -= now;
        }
        return true;
    }

    char* m_out;
    const char* m_limit;
};

template <typename Value> Value load(const Value& shared)
{
    return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

const Argument* children_of(const OpenState& state)
{
    const auto& arguments = state.form()->arguments;
    for (const Argument& argument : arguments)
        if (argument.kind == Argument::Kind::children &&
            state.has(static_cast<int>(&argument - arguments.data())))
            return state.is_unsure() ? nullptr : &argument;
    return nullptr;
}

} // namespace

void ShortText::change_to(const ShortText& other)
{
    uint64_t words[sizeof(ShortText) / sizeof(uint64_t)];
    memcpy(words, &other, sizeof words);
    for (size_t i = 0; i < std::size(words); ++i)
        __atomic_store_n(reinterpret_cast<uint64_t*>(this) + i, words[i], __ATOMIC_RELEASE);
}

ShortText ShortText::seen() const
{
    uint64_t words[sizeof(ShortText) / sizeof(uint64_t)];
    for (size_t i = 0; i < std::size(words); ++i)
        words[i] = load(reinterpret_cast<const uint64_t*>(this)[i]);
    ShortText text;
    memcpy(&text, words, sizeof words);
    return text;
}

void OpenState::copy_from(const OpenState& other)
{
    m_begin = load(other.m_begin); // the last that is set, hence the first: see is_same()
    m_form = load(other.m_form);
    m_known = load(other.m_known);
    m_kept_site = m_form != nullptr ? load(other.m_site)->seen() : ShortText();
    m_site = &m_kept_site;
    for (int i = 0; i < most_values; ++i)
        m_values[i] = load(other.m_values[i]);
}

void OpenState::take_arguments(const OpenState& other)
{
    for (int i = 0; i < most_values; ++i)
        store(m_values[i], other.m_values[i]);
    store(m_known, other.m_known);
}

char* OpenState::put_attributes(char* out, const char* limit, bool was_left) const
{
    using Kind = Argument::Kind;
    BoundedText text(out, limit);
    for (size_t i = 0; i < m_form->arguments.size() && !is_unsure(); ++i) {
        const Argument& argument = m_form->arguments[i];
        const bool is_in_program = argument.kind == Kind::string || argument.kind == Kind::numbers;
        if (has(static_cast<int>(i)) && !(was_left && is_in_program))
            text.attribute(argument, m_values + argument.value);
    }
    const size_t length = site().length;
    if (length < sizeof site().text && text.has_room(length))
        text.text(site().text, length);
    return text.out();
}

bool OpenState::has_children() const
{
    const Argument* const children = children_of(*this);
    return children != nullptr && m_values[children->value + 2] > 0;
}

char* OpenState::put_children(char* out, const char* limit) const
{
    const Argument& children = *children_of(*this);
    const int64_t count = m_values[children.value + 2];
    Items items(children, reinterpret_cast<const char*>(m_values[children.value]), count);
    const char* const others = reinterpret_cast<const char*>(m_values[children.value + 1]);
    BoundedText text(out, limit);
    int64_t last = 0, equal_before = 0;
    for (int64_t i = 0; i < count; ++i) {
        int64_t item = 0;
        const auto index = static_cast<size_t>(i);
        if (!text.has_room_for_two(children) || !items.get(i, item)) {
            text.child(children, " more='", count - i);
            break;
        }
        equal_before = i > 0 && item == last ? equal_before + 1 : 0;
        last = item;
        const int64_t number = children.find(&item, others + index * children.item_size, equal_before);
        if (number >= 0)
            text.child(children, number);
    }
    return text.out();
}

} // namespace hdtrace
