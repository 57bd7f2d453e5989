#include "hdtrace/format/info.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/nanoseconds.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <zlib.h>

namespace hdtrace {

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::size_t buffer_size = std::size_t{64} << 10;
constexpr std::size_t most_values = 1000;

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/// The size of the escape at the start of @p text, whose meaning is appended to @p value.
/// What is not an escape stands for itself: older traces have no escapes.
std::size_t append_unescaped(std::string_view text, std::string& value)
{
    constexpr std::string_view from = "\\'\"nrt";
    constexpr std::string_view to = "\\'\"\n\r\t";
    if (text.size() < 2) {
        value += text;
        return text.size();
    }
    if (const auto at = from.find(text[1]); at != std::string_view::npos) {
        value += to[at];
        return 2;
    }
    if (text[1] == 'x' && text.size() >= 4 && hex_digit(text[2]) >= 0 && hex_digit(text[3]) >= 0) {
        value += static_cast<char>(hex_digit(text[2]) * 16 + hex_digit(text[3]));
        return 4;
    }
    value += text.substr(0, 2);
    return 2;
}

/// Takes the fields of a line one after the other.
class FieldScanner {
  public:
    FieldScanner(std::string_view text, std::size_t position) : m_text(text), m_position(position) {}

    bool at_end()
    {
        m_position = std::min(m_text.find_first_not_of(blanks, m_position), m_text.size());
        return m_position == m_text.size();
    }
    std::size_t column() const { return m_position + 1; }

    /// The word before '='; empty if there is none.
    std::string_view key()
    {
        const std::size_t end = m_text.find_first_of(" \t='\"", m_position);
        if (end == std::string_view::npos || m_text[end] != '=')
            return {};
        const auto key = m_text.substr(m_position, end - m_position);
        m_position = end + 1;
        return key;
    }

    /// False if a quote is not closed.
    bool value(std::string& value)
    {
        if (m_position < m_text.size() && (m_text[m_position] == '\'' || m_text[m_position] == '"'))
            return quoted(value);
        const std::size_t end = std::min(m_text.find_first_of(blanks, m_position), m_text.size());
        value = m_text.substr(m_position, end - m_position);
        m_position = end;
        return true;
    }

  private:
    bool quoted(std::string& value)
    {
        const char stops[] = {m_text[m_position], '\\', '\0'};
        std::size_t at = m_position + 1;
        while (true) {
            const std::size_t stop = m_text.find_first_of(stops, at);
            if (stop == std::string_view::npos)
                return false;
            value += m_text.substr(at, stop - at);
            if (m_text[stop] != '\\') {
                m_position = stop + 1;
                return true;
            }
            at = stop + append_unescaped(m_text.substr(stop), value);
        }
    }

    std::string_view m_text;
    std::size_t m_position;
};

bool to_integer(std::string_view text, std::int64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

InfoLine::InfoLine(std::string_view file, std::uint64_t number, std::string text)
    : m_file(file), m_number(number), m_text(std::move(text)),
      m_kind_size(std::min(m_text.find_first_of(blanks), m_text.size()))
{
}

void InfoLine::parse() const
{
    m_parsed = true;
    FieldScanner scanner(m_text, m_kind_size);
    while (!scanner.at_end()) {
        const std::size_t start = scanner.column();
        if (m_fields.size() == most_values)
            throw ReadError(std::string(m_file), m_number, start,
                            "the line has more than " + std::to_string(most_values) + " values");
        Field field;
        field.key = scanner.key();
        field.column = scanner.column();
        if (field.key.empty())
            throw ReadError(std::string(m_file), m_number, start, "expected key=value");
        if (!scanner.value(field.value))
            throw ReadError(std::string(m_file), m_number, field.column, "the quote is not closed");
        m_fields.push_back(std::move(field));
    }
}

const std::vector<InfoLine::Field>& InfoLine::fields() const
{
    if (!m_parsed)
        parse();
    return m_fields;
}

const InfoLine::Field* InfoLine::find_field(std::string_view key) const
{
    for (const Field& field : fields()) {
        if (field.key == key)
            return &field;
    }
    return nullptr;
}

const std::string* InfoLine::find(std::string_view key) const
{
    const Field* field = find_field(key);
    return field ? &field->value : nullptr;
}

void InfoLine::fail(std::string_view key, const std::string& what) const
{
    const Field* field = find_field(key);
    throw ReadError(std::string(m_file), m_number, field ? field->column : 1, what);
}

const std::string& InfoLine::text(std::string_view key) const
{
    if (const std::string* value = find(key))
        return *value;
    fail(key, "a " + std::string(kind()) + " line needs " + std::string(key) + "=");
}

std::string InfoLine::text_or(std::string_view key, std::string_view otherwise) const
{
    const std::string* value = find(key);
    return value ? *value : std::string(otherwise);
}

std::int64_t InfoLine::integer(std::string_view key) const
{
    std::int64_t number = 0;
    if (!to_integer(text(key), number))
        fail(key, std::string(key) + " is not a number");
    return number;
}

std::int64_t InfoLine::natural(std::string_view key) const
{
    const std::int64_t number = integer(key);
    if (number < 0)
        fail(key, std::string(key) + " is negative");
    return number;
}

std::optional<std::int64_t> InfoLine::optional_integer(std::string_view key) const
{
    return has(key) ? std::optional(integer(key)) : std::nullopt;
}

std::optional<std::int64_t> InfoLine::optional_nanoseconds(std::string_view key) const
{
    const std::string* value = find(key);
    if (!value)
        return std::nullopt;
    const auto nanoseconds = parse_time(*value);
    if (!nanoseconds)
        fail(key, std::string(key) + " is not a time in seconds with at most nine digits behind the point");
    return nanoseconds;
}

InfoReader::InfoReader(std::string path, std::size_t line_limit)
    : m_path(std::move(path)), m_line_limit(line_limit), m_file(std::make_unique<detail::File>(m_path)),
      m_buffer(std::make_unique_for_overwrite<char[]>(buffer_size))
{
}

InfoReader::~InfoReader() = default;

bool InfoReader::fill()
{
    m_begin = 0;
    m_end = m_file->read(m_buffer.get(), buffer_size);
    if (m_file->error())
        throw OpenError(m_path, m_file->error());
    if (m_end == 0 && !m_file->refusal().empty())
        throw ReadError(m_path, m_line + 1, 0, m_file->refusal());
    m_crc = static_cast<std::uint32_t>(crc32_z(m_crc, reinterpret_cast<const Bytef*>(m_buffer.get()), m_end));
    m_size += m_end;
    return m_end > 0;
}

std::int64_t InfoReader::checksum() const
{
    return static_cast<std::int64_t>((m_size << 32 | m_crc) & INT64_MAX);
}

/// Appends the next line without its end; false if there is no whole line any more.
bool InfoReader::read_physical_line(std::string& text)
{
    while (m_begin < m_end || fill()) {
        const char* start = m_buffer.get() + m_begin;
        const auto* stop = static_cast<const char*>(std::memchr(start, '\n', m_end - m_begin));
        const std::size_t size = stop ? stop - start : m_end - m_begin;
        if (text.size() + size > m_line_limit)
            throw ReadError(m_path, m_line + 1, 0,
                            "the line is longer than " + std::to_string(m_line_limit) + " bytes");
        text.append(start, size);
        m_begin += size;
        if (stop) {
            ++m_begin;
            ++m_line;
            if (text.ends_with('\r'))
                text.pop_back();
            return true;
        }
    }
    return false;
}

bool InfoReader::next(InfoLine& line)
{
    std::string text;
    while (read_physical_line(text)) {
        const std::uint64_t number = m_line;
        bool whole = true;
        while (whole && text.ends_with('\\')) {
            text.pop_back();
            whole = read_physical_line(text);
        }
        if (!whole)
            break;
        if (text.find_first_not_of(blanks) == std::string::npos) {
            text.clear();
            continue;
        }
        line = InfoLine(m_path, number, std::move(text));
        return true;
    }
    if (!text.empty() && m_truncated_line == 0)
        m_truncated_line = m_line + 1;
    return false;
}

} // namespace hdtrace
