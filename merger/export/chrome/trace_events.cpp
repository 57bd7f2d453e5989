#include "merger/export/chrome/trace_events.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <glib.h>

#include "hdtrace/matching/saturated.h"
#include "hdtrace/writer/text.h"
#include "merger/export/plain_text.h"

namespace hdtrace::exporter::chrome {
namespace {

constexpr std::int64_t most_in_a_double = std::int64_t{1} << 53;

/// How many bytes the first character has; 0 if it is no UTF-8.
std::size_t character_size(std::string_view text)
{
    const gunichar c = g_utf8_get_char_validated(text.data(), static_cast<gssize>(text.size()));
    if (c == static_cast<gunichar>(-1) || c == static_cast<gunichar>(-2))
        return 0;
    return static_cast<std::size_t>(g_unichar_to_utf8(c, nullptr));
}

constexpr std::size_t most_for_one = 6; ///< of a byte: \u0000

/// Writes the first character, which is not plain, and takes it from the text.
char* put_escaped(char* place, std::string_view& text)
{
    const char first = text[0];
    std::size_t taken = 1;
    if (first == '"' || first == '\\') {
        *place++ = '\\';
        *place++ = first;
    } else if (const auto byte = static_cast<unsigned char>(first); byte < 0x80) {
        static constexpr char digits[] = "0123456789abcdef";
        place = put_text(place, "\\u00");
        *place++ = digits[byte >> 4];
        *place++ = digits[byte & 15];
    } else if (const std::size_t valid = character_size(text); valid > 0) {
        place = std::copy_n(text.data(), valid, place);
        taken = valid;
    } else {
        place = put_text(place, "\xef\xbf\xbd");
    }
    text.remove_prefix(taken);
    return place;
}

/// In quotes. What is no UTF-8, which JSON cannot hold, becomes U+FFFD byte by byte.
char* put_quoted(char* place, std::string_view text)
{
    *place++ = '"';
    for (;;) {
        const std::size_t plain = plain_size<'"', '\\'>(text);
        std::memcpy(place, text.data(), plain);
        place += plain;
        text.remove_prefix(plain);
        if (text.empty())
            break;
        place = put_escaped(place, text);
    }
    *place++ = '"';
    return place;
}

std::size_t most_quoted(std::string_view text)
{
    return most_for_one * text.size() + sizeof "\"\"";
}

/// As std::to_chars writes one.
bool is_written_as_number(std::string_view text)
{
    if (text.starts_with('-'))
        return text.size() > 1 && text[1] >= '1' && text[1] <= '9';
    return text == "0" || (!text.empty() && text[0] >= '1' && text[0] <= '9');
}

} // namespace

TraceEvents::TraceEvents(TextOutput::Sink sink, std::int64_t origin)
    : m_output(std::move(sink)), m_origin(origin)
{
    m_output.text("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"hdtrace-convert\",\"begin\":\"")
        .seconds(origin)
        .text("\"},\"traceEvents\":[");
}

void TraceEvents::finish()
{
    m_output.text("\n]}\n");
    m_output.flush();
}

TraceEvents& TraceEvents::begin(std::string_view phase, std::string_view name, const Track& track)
{
    m_output.text(m_is_first_event ? "\n{" : ",\n{");
    m_is_first_event = false;
    m_is_first_value = true;
    return text<"ph">(phase).text<"name">(name).number<"pid">(track.process).number<"tid">(track.thread);
}

TraceEvents& TraceEvents::begin(std::string_view phase, std::string_view name, const Track& track,
                                std::int64_t time)
{
    return begin(phase, name, track).microseconds<"ts">(saturated_distance(time, m_origin));
}

void TraceEvents::end()
{
    m_output.text("}");
}

TraceEvents& TraceEvents::named_number(std::string_view name, double value)
{
    constexpr std::size_t longest = 64;
    char* const place = put_named_key(m_output.room_for(most_quoted(name) + sizeof ",:" + longest), name);
    m_output.used_until(std::to_chars(place, place + longest, value).ptr);
    return *this;
}

TraceEvents& TraceEvents::attributes(const AttributeList& attributes)
{
    std::size_t most = 0;
    for (const auto [name, value] : attributes)
        most += most_quoted(name) + most_quoted(value) + sizeof ",:";
    char* place = m_output.room_for(most);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const auto [name, value] = attributes[i];
        if (name == "time" || name == "end")
            continue;
        place = put_named_key(place, name);
        const auto integer = attributes.number(i);
        const bool is_exact = integer && *integer > -most_in_a_double && *integer < most_in_a_double;
        if (is_exact && is_written_as_number(value))
            place = std::copy_n(value.data(), value.size(), place);
        else
            place = put_quoted(place, value);
    }
    m_output.used_until(place);
    return *this;
}

TraceEvents& TraceEvents::open_object()
{
    m_output.text(m_is_first_value ? "{" : ",{");
    m_is_first_value = true;
    return *this;
}

char* TraceEvents::put_named_key(char* place, std::string_view name)
{
    if (!m_is_first_value)
        *place++ = ',';
    m_is_first_value = false;
    place = put_quoted(place, name);
    *place++ = ':';
    return place;
}

TraceEvents& TraceEvents::quoted(std::string_view text)
{
    m_output.used_until(put_quoted(m_output.room_for(most_quoted(text)), text));
    return *this;
}

} // namespace hdtrace::exporter::chrome
