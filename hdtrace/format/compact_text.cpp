#include "hdtrace/format/compact_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "hdtrace/compact_form.h"
#include "hdtrace/writer/text.h"

namespace hdtrace::detail {

namespace {

constexpr std::string_view nested_begin = "<Nested>", nested_end = "</Nested>";
constexpr std::size_t longest_form = 64 * 1024;
constexpr int time_digits = 9;
constexpr std::size_t value_room = 32;

constexpr std::array<std::int64_t, 10> powers_of_ten = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

char* put_decimal(char* out, std::int64_t value)
{
    if (value >= 0 && value < 10) {
        *out = static_cast<char>('0' + value);
        return out + 1;
    }
    return std::to_chars(out, out + value_room, value).ptr;
}

// Not negative.
char* put_time(char* out, std::int64_t nanoseconds)
{
    const std::int64_t second = powers_of_ten.back();
    out = put_text(put_decimal(out, nanoseconds / second), ".");
    return put_nanoseconds(out, static_cast<std::uint32_t>(nanoseconds % second));
}

std::int64_t sum(std::int64_t value, std::int64_t difference)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                     static_cast<std::uint64_t>(difference));
}

} // namespace

/// The records that are left. Whatever does not find all that it needs returns nothing.
class CompactText::Bytes {
  public:
    explicit Bytes(std::string_view bytes) : m_bytes(bytes) {}

    std::optional<std::uint64_t> number()
    {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < m_bytes.size() && i < most_compact_number; ++i) {
            const auto byte = static_cast<unsigned char>(m_bytes[i]);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
            if (byte < 0x80) {
                m_bytes.remove_prefix(i + 1);
                return value;
            }
        }
        m_is_bad = m_bytes.size() >= most_compact_number;
        return {};
    }
    std::optional<std::int64_t> difference()
    {
        const auto value = number();
        return value ? std::optional(to_signed(*value)) : std::nullopt;
    }
    std::optional<std::string_view> bytes(std::uint64_t size)
    {
        return size <= m_bytes.size() ? std::optional(up_to(size)) : std::nullopt;
    }
    std::string_view up_to(std::uint64_t size)
    {
        const std::string_view taken = m_bytes.substr(0, size);
        m_bytes.remove_prefix(taken.size());
        return taken;
    }
    std::string_view left() const { return m_bytes; }
    /// It is not only that something is missing.
    bool is_bad() const { return m_is_bad; }

  private:
    std::string_view m_bytes;
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
    m_is_damaged = false;
}

bool CompactText::damaged()
{
    m_is_damaged = true;
    return false;
}

std::size_t CompactText::decode(std::string_view records, std::string& text, std::size_t enough)
{
    std::string_view left = records;
    while (text.size() < enough && !left.empty()) {
        Bytes in(left);
        if (m_text_left > 0) {
            const std::string_view part = in.up_to(m_text_left);
            text += part;
            m_text_left -= part.size();
        } else if (!take_record(in, text)) {
            m_is_damaged = m_is_damaged || in.is_bad();
            break;
        }
        left = in.left();
    }
    return records.size() - left.size();
}

bool CompactText::take_record(Bytes& in, std::string& text)
{
    const auto code = in.number();
    if (!code)
        return false;
    switch (*code) {
    case compact_code::form:
        return take_form(in);
    case compact_code::text: {
        const auto size = in.number();
        m_text_left = size.value_or(0);
        return size.has_value();
    }
    case compact_code::depth:
        return take_depth(in, text);
    default:
        return *code >= compact_code::first_line ? take_line(in, *code - compact_code::first_line, text)
                                                 : damaged();
    }
}

bool CompactText::take_form(Bytes& in)
{
    const auto size = in.number();
    if (size && *size > longest_form)
        return damaged();
    const auto text = size ? in.bytes(*size) : std::nullopt;
    if (!text)
        return false;
    Form form;
    form.text = *text;
    Piece piece;
    const auto end_piece = [&](std::size_t at, Kind kind) {
        piece.text_size = static_cast<std::uint32_t>(at - piece.text_begin);
        piece.kind = kind;
        form.room += piece.text_size + value_room;
        form.pieces.push_back(piece);
        piece = {};
    };
    for (std::size_t at = 0; at < text->size(); ++at) {
        const char mark = (*text)[at];
        if (mark < compact_mark::number || mark > compact_mark::time)
            continue;
        end_piece(at, static_cast<Kind>(mark));
        Piece& ended = form.pieces.back();
        if (ended.kind == Kind::number || ended.kind == Kind::seconds) {
            form.values.push_back(0);
        } else {
            if (++at == text->size() || (*text)[at] < '6' || (*text)[at] > '9' || ++form.time_count > 2)
                return damaged();
            ended.digits = static_cast<std::uint8_t>((*text)[at] - '0');
        }
        piece.text_begin = static_cast<std::uint32_t>(at + 1);
    }
    end_piece(text->size(), Kind::nothing);
    if (form.values.size() > most_compact_values)
        return damaged();
    m_forms.push_back(std::move(form));
    return true;
}

// The elements around one must have begun their tags; it ends its own.
bool CompactText::take_depth(Bytes& in, std::string& text)
{
    const auto depth = in.number();
    if (!depth)
        return false;
    if (*depth == 0 || *depth > most_compact_depth)
        return damaged();
    for (std::uint64_t around = 1; around < *depth; ++around) {
        if ((m_nested >> around & 1) == 0)
            text += nested_begin;
        m_nested |= std::uint64_t{1} << around;
    }
    if ((m_nested >> *depth & 1) != 0)
        text += nested_end;
    m_nested &= ~(std::uint64_t{1} << *depth);
    return true;
}

bool CompactText::take_line(Bytes& in, std::uint64_t code, std::string& text)
{
    if (code / 2 >= m_forms.size())
        return damaged();
    Form& form = m_forms[code / 2];
    std::array<std::int64_t, 2> times = {m_last_time, 0};
    // What is not whole leaves the form as it was.
    Bytes changes = in;
    if (code % 2 != 0) {
        Bytes unchecked = in;
        const auto changed = unchecked.number();
        for (std::uint64_t left = changed.value_or(1); left != 0; left &= left - 1) {
            if (!changed || !unchecked.number()) {
                in = unchecked;
                return false;
            }
        }
        in = unchecked;
    }
    for (int i = 0; i < form.time_count; ++i) {
        const auto number = in.number();
        if (!number)
            return false;
        // The first one may be before the last line's end; nothing ends before it begins.
        times[i] =
            i == 0 ? sum(m_last_time, to_signed(*number)) : sum(times[0], static_cast<std::int64_t>(*number));
        if (times[i] < 0 || times[i] > INT64_MAX / 1000) // there may be digits that are not told
            return damaged();
    }
    if (code % 2 != 0 && !take_changes(changes, form))
        return false;
    if (form.time_count > 0)
        m_last_time = times[form.time_count - 1];
    const std::size_t size = text.size();
    text.resize(size + form.room);
    text.resize(static_cast<std::size_t>(put_line(text.data() + size, form, times) - text.data()));
    return true;
}

bool CompactText::take_changes(Bytes& in, Form& form)
{
    const std::uint64_t changed = in.number().value_or(0);
    for (std::uint64_t left = changed; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctzll(left));
        if (i >= form.values.size())
            return damaged();
        form.values[i] = sum(form.values[i], in.difference().value_or(0));
    }
    return true;
}

char* CompactText::put_line(char* out, const Form& form, std::array<std::int64_t, 2> times) const
{
    const char* const text = form.text.data();
    const std::int64_t* value = form.values.data();
    const std::int64_t* time = times.data();
    for (const Piece& piece : form.pieces) {
        std::memcpy(out, text + piece.text_begin, piece.text_size);
        out += piece.text_size;
        switch (piece.kind) {
        case Kind::nothing:
            break;
        case Kind::number:
            out = put_decimal(out, *value++);
            break;
        case Kind::seconds:
            out = put_time(out, std::max(*value++, std::int64_t{0}));
            break;
        case Kind::begin:
        case Kind::end:
        case Kind::time: {
            const int cut = time_digits - piece.digits;
            out = put_time(out, *time++ * powers_of_ten[static_cast<std::size_t>(cut)]) - cut;
            break;
        }
        }
    }
    return out;
}

} // namespace hdtrace::detail
