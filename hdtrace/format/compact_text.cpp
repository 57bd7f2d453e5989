#include "hdtrace/format/compact_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "hdtrace/format/eight_bytes.h"
#include "hdtrace/writer/text.h"

namespace hdtrace::detail {

namespace {

constexpr std::string_view nested_begin = "<Nested>", nested_end = "</Nested>";
constexpr std::size_t longest_form = 64 * 1024;
constexpr std::size_t all_digits = 9;

// Of forms that notes are made about: more than a trace has, and little memory even if a file has only
// nonsense.
constexpr std::size_t longest_noted_form = 2 * 1024;
constexpr std::uint32_t most_places = 8 * 1024;
constexpr std::uint32_t no_place = UINT32_MAX;

/// Numbers of as many digits.
struct Span {
    std::uint64_t first = 0, size = 0;
};

// By their digits. There are none of those that are longer, which negative numbers are if they are made
// unsigned.
constexpr std::array<Span, max_number_length + 1> spans = [] {
    constexpr std::size_t most_digits = 18;
    std::array<Span, max_number_length + 1> made{};
    std::uint64_t first = 1;
    for (std::size_t digits = 1; digits <= most_digits; ++digits, first *= 10)
        made[digits] = {first, 9 * first};
    made[1] = {0, 10};
    return made;
}();

constexpr std::array<std::int64_t, 4> powers_of_ten = {1, 10, 100, 1000};

// Writes a number that has so many digits; false if it has not.
inline bool put_digits(char* out, std::size_t digits, std::uint64_t number)
{
    if (number - spans[digits].first >= spans[digits].size)
        return false;
    char* end = out + digits;
    for (; number >= 100; number /= 100)
        put_pair(end -= 2, static_cast<unsigned>(number % 100));
    if (number >= 10)
        put_pair(end - 2, static_cast<unsigned>(number));
    else
        end[-1] = static_cast<char>('0' + number);
    return true;
}

// The first digits of nine.
inline void put_fraction(char* out, std::size_t digits, std::uint32_t nanoseconds)
{
    if (has_eight_bytes && digits == all_digits) {
        const std::uint64_t first = digits_of_number(nanoseconds / 10) + '0' * every_byte;
        std::memcpy(out, &first, sizeof first);
        out[8] = static_cast<char>('0' + nanoseconds % 10);
        return;
    }
    auto rest = nanoseconds / static_cast<std::uint32_t>(powers_of_ten[all_digits - digits]);
    for (std::size_t i = digits; i > 0; --i, rest /= 10)
        out[i - 1] = static_cast<char>('0' + rest % 10);
}

constexpr std::int64_t second = 1'000'000'000;

std::int64_t sum(std::int64_t value, std::int64_t difference)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                     static_cast<std::uint64_t>(difference));
}

} // namespace

/// The records that are left. Whatever does not find all that it needs is false or nothing.
class CompactText::Bytes {
  public:
    explicit Bytes(std::string_view bytes) : m_next(bytes.data()), m_end(m_next + bytes.size()) {}

    bool number(std::uint64_t& value)
    {
        const char* const begin = m_next;
        if (m_end - begin >= 2) { // as nearly always, and most have no more
            const auto first = static_cast<unsigned char>(begin[0]),
                       second = static_cast<unsigned char>(begin[1]);
            if (first < 0x80) {
                value = first;
                m_next = begin + 1;
                return true;
            }
            if (second < 0x80) {
                value = (first & 0x7fu) | second << 7;
                m_next = begin + 2;
                return true;
            }
        }
        const char* const behind = behind_number(begin, m_end, value);
        m_is_bad = m_is_bad || !behind;
        if (!behind || behind == begin)
            return false;
        m_next = behind;
        return true;
    }
    std::optional<std::string_view> bytes(std::uint64_t size)
    {
        return size <= left().size() ? std::optional(up_to(size)) : std::nullopt;
    }
    std::string_view up_to(std::uint64_t size)
    {
        const std::string_view taken = left().substr(0, size);
        m_next += taken.size();
        return taken;
    }
    std::string_view left() const { return {m_next, static_cast<std::size_t>(m_end - m_next)}; }
    /// It is not only that something is missing.
    bool is_bad() const { return m_is_bad; }

  private:
    // Where it begins if it is not whole; null if it has too many bytes.
    static const char* behind_number(const char* begin, const char* end, std::uint64_t& value)
    {
        value = 0;
        unsigned shift = 0;
        for (const char* next = begin; next != end; shift += 7) {
            const auto byte = static_cast<unsigned char>(*next++);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80)
                return next;
            if (next - begin == most_compact_number)
                return nullptr;
        }
        return begin;
    }

    const char* m_next;
    const char* m_end;
    bool m_is_bad = false;
};

void CompactText::begin_unit()
{
    m_forms.clear();
    m_last_time = 0;
}

void CompactText::restart()
{
    begin_unit();
    m_nested = m_text_left = 0;
    m_is_damaged = m_makes_notes = false;
    m_notes.clear();
}

TextNotes& CompactText::begin_notes(std::size_t made_before)
{
    m_notes.clear();
    m_makes_notes = true;
    m_made = static_cast<std::int64_t>(made_before);
    return m_notes;
}

bool CompactText::damaged()
{
    m_is_damaged = true;
    return false;
}

bool CompactText::take_form(Bytes& in)
{
    std::uint64_t size = 0;
    if (!in.number(size))
        return false;
    if (size > longest_form)
        return damaged();
    const auto text = in.bytes(size);
    if (!text)
        return false;
    Form form;
    if (!make_form(*text, form))
        return damaged();
    form.first_place = first_place_of(*text, form.in_line.size());
    m_forms.push_back(std::move(form));
    return true;
}

// With all values 0. False if no writer can have written it.
bool CompactText::make_form(std::string_view text, Form& form)
{
    constexpr std::string_view no_seconds = "0.000000000";
    const auto add_zero = [&](std::string_view zero) {
        form.in_line.push_back({static_cast<std::uint32_t>(form.line.size()),
                                static_cast<std::uint32_t>(zero.size()), zero.size() == 1, 0});
        form.line += zero;
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char mark = text[at];
        const auto kind = static_cast<Kind>(mark);
        const auto place = static_cast<std::uint32_t>(form.in_line.size());
        if (mark < compact_mark::number || mark > compact_mark::time) {
            form.line += mark;
        } else if (kind == Kind::number || kind == Kind::seconds) {
            form.values.push_back({.kind = kind, .place = place});
            add_zero(kind == Kind::number ? "0" : no_seconds);
        } else {
            const std::size_t digits = ++at < text.size() ? static_cast<unsigned char>(text[at]) - '0' : 0;
            if (digits < 6 || digits > all_digits || form.time_count == std::ssize(form.times))
                return false;
            form.times[form.time_count++] = {.kind = kind,
                                             .digits = static_cast<std::uint8_t>(digits),
                                             .place = place,
                                             .unit = powers_of_ten[all_digits - digits]};
            add_zero(no_seconds.substr(0, no_seconds.size() - all_digits + digits));
        }
    }
    form.is_line = form.line.find('\n') == form.line.size() - 1; // never of one without any text
    form.known_values =
        form.values.size() < 64 ? (std::uint64_t{1} << form.values.size()) - 1 : ~std::uint64_t{0};
    return form.values.size() <= most_compact_values;
}

// The same for the same text; no_place if there are too many.
std::uint32_t CompactText::first_place_of(std::string_view text, std::size_t values)
{
    const auto known = m_places.find(text);
    if (known != m_places.end())
        return known->second;
    if (values == 0 || text.size() > longest_noted_form || m_next_place + values > most_places)
        return no_place;
    const std::uint32_t first = m_next_place;
    m_places.emplace(text, first);
    m_next_place += static_cast<std::uint32_t>(values);
    return first;
}

// The elements around one must have begun their tags; it ends its own.
bool CompactText::take_depth(Bytes& in, TextOutput& out)
{
    std::uint64_t depth = 0;
    if (!in.number(depth))
        return false;
    if (depth == 0 || depth > most_compact_depth)
        return damaged();
    for (std::uint64_t around = 1; around < depth; ++around) {
        if ((m_nested >> around & 1) == 0)
            out.put(nested_begin);
        m_nested |= std::uint64_t{1} << around;
    }
    if ((m_nested >> depth & 1) != 0)
        out.put(nested_end);
    m_nested &= ~(std::uint64_t{1} << depth);
    return true;
}

// Puts a value into the line in place of the last one, which mostly has as many digits.
inline void CompactText::put_number(Form& form, std::size_t place, std::int64_t number)
{
    TextValue& value = form.in_line[place];
    value.number = number;
    if (!put_digits(form.line.data() + value.begin, value.size, static_cast<std::uint64_t>(number)))
        replace(form, place, value.size, number);
}

// The same for what is told as seconds, which is not negative.
inline void CompactText::put_seconds(Form& form, Value& value, std::int64_t nanoseconds)
{
    TextValue& in_line = form.in_line[value.place];
    in_line.number = nanoseconds;
    if (static_cast<std::uint64_t>(nanoseconds - value.second_begin) >= second) {
        value.second_begin = nanoseconds / second * second;
        replace(form, value.place, in_line.size - 1 - value.digits, nanoseconds / second);
    }
    put_fraction(form.line.data() + in_line.end() - value.digits, value.digits,
                 static_cast<std::uint32_t>(nanoseconds - value.second_begin));
}

// A number in place of the first characters of a value.
void CompactText::replace(Form& form, std::size_t place, std::size_t replaced, std::int64_t number)
{
    std::array<char, max_number_length> text;
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    const auto size = static_cast<std::size_t>(end - text.data());
    form.line.replace(form.in_line[place].begin, replaced, text.data(), size);
    const auto more = static_cast<std::uint32_t>(size - replaced);
    form.in_line[place].size += more;
    for (std::size_t i = place + 1; i < form.in_line.size(); ++i)
        form.in_line[i].begin += more;
}

inline bool CompactText::take_changes(Bytes& in, std::uint64_t& changed)
{
    Bytes left = in; // the compiler keeps it in registers
    bool is_whole = left.number(changed);
    std::uint64_t* change = m_changes.data();
    for (std::uint64_t rest = changed; is_whole && rest != 0; rest &= rest - 1)
        is_whole = left.number(*change++);
    in = left;
    return is_whole;
}

// In units of the last digit that is told. The first one may be before the last line's end; nothing ends
// before it begins.
inline bool CompactText::take_times(Bytes& in, const Form& form, std::array<std::int64_t, 2>& times)
{
    for (int i = 0; i < form.time_count; ++i) {
        std::uint64_t number = 0;
        if (!in.number(number))
            return false;
        times[i] =
            i == 0 ? sum(m_last_time, to_signed(number)) : sum(times[0], static_cast<std::int64_t>(number));
        if (times[i] < 0 || times[i] > INT64_MAX / 1000) // there may be digits that are not told
            return damaged();
    }
    return true;
}

// The form has all that changed.
inline void CompactText::change_values(Form& form, std::uint64_t changed)
{
    const std::uint64_t* change = m_changes.data();
    for (; changed != 0; changed &= changed - 1) {
        Value& value = form.values[static_cast<std::size_t>(__builtin_ctzll(changed))];
        const std::int64_t difference = to_signed(*change++);
        if (value.kind == Kind::number) {
            put_number(form, value.place, sum(form.in_line[value.place].number, difference));
        } else {
            value.nanoseconds = sum(value.nanoseconds, difference);
            put_seconds(form, value, std::max(value.nanoseconds, std::int64_t{0}));
        }
    }
}

// What is not whole leaves the form as it was.
bool CompactText::take_line(Bytes& in, std::uint64_t code, TextOutput& out)
{
    if (code / 2 >= m_forms.size())
        return damaged();
    Form& form = m_forms[code / 2];
    std::uint64_t changed = 0;
    std::array<std::int64_t, 2> times = {};
    if (code % 2 != 0 && !take_changes(in, changed))
        return false;
    if (!take_times(in, form, times))
        return false;
    if ((changed & ~form.known_values) != 0)
        return damaged();
    change_values(form, changed);
    for (int i = 0; i < form.time_count; ++i) {
        Value& time = form.times[i];
        m_last_time = times[i];
        put_seconds(form, time, times[i] * time.unit);
    }
    if (m_makes_notes && form.first_place != no_place)
        m_notes.add(m_made + static_cast<std::int64_t>(out.size()), form.line.size(), form.is_line,
                    form.in_line, form.first_place);
    out.put(form.line);
    return true;
}

inline bool CompactText::take_record(Bytes& in, TextOutput& out)
{
    std::uint64_t code = 0;
    if (!in.number(code))
        return false;
    if (code >= compact_code::first_line)
        return take_line(in, code - compact_code::first_line, out);
    switch (code) {
    case compact_code::form:
        return take_form(in);
    case compact_code::text: {
        std::uint64_t size = 0;
        const bool is_whole = in.number(size);
        m_text_left = is_whole ? size : 0;
        return is_whole;
    }
    case compact_code::depth:
        return take_depth(in, out);
    default:
        return damaged();
    }
}

std::size_t CompactText::decode(std::string_view records, TextOutput& out)
{
    Bytes in(records);
    std::size_t left = records.size();
    for (; !out.is_full() && left > 0; left = in.left().size()) {
        if (m_text_left > 0) {
            const std::string_view part = in.up_to(m_text_left);
            out.put(part);
            m_text_left -= part.size();
        } else if (!take_record(in, out)) {
            m_is_damaged = m_is_damaged || in.is_bad();
            break;
        }
    }
    m_made += static_cast<std::int64_t>(out.size());
    return records.size() - left;
}

} // namespace hdtrace::detail
