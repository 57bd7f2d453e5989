#include "merger/export/chrome/trace_events.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <glib.h>

#include "hdtrace/matching/saturated.h"
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
    return text("ph", phase).text("name", name).number("pid", track.process).number("tid", track.thread);
}

TraceEvents& TraceEvents::begin(std::string_view phase, std::string_view name, const Track& track,
                                std::int64_t time)
{
    return begin(phase, name, track).microseconds("ts", saturated_distance(time, m_origin));
}

void TraceEvents::end()
{
    m_output.text("}");
}

TraceEvents& TraceEvents::text(Key name, std::string_view value)
{
    key(name);
    quoted(value);
    return *this;
}

TraceEvents& TraceEvents::number(Key name, std::int64_t value)
{
    key(name).number(value);
    return *this;
}

TraceEvents& TraceEvents::microseconds(Key name, std::int64_t nanoseconds)
{
    key(name).microseconds(nanoseconds);
    return *this;
}

TraceEvents& TraceEvents::named_number(std::string_view name, double value)
{
    char digits[64];
    named_key(name).text({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
    return *this;
}

TraceEvents& TraceEvents::attributes(const AttributeList& attributes)
{
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const auto [name, value] = attributes[i];
        if (name == "time" || name == "end")
            continue;
        const auto integer = attributes.number(i);
        const bool is_exact = integer && *integer > -most_in_a_double && *integer < most_in_a_double;
        named_key(name);
        if (is_exact && is_written_as_number(value))
            m_output.text(value);
        else
            quoted(value);
    }
    return *this;
}

TraceEvents& TraceEvents::open_object(Key name)
{
    key(name).text("{");
    m_is_first_value = true;
    return *this;
}

TraceEvents& TraceEvents::open_object()
{
    separate();
    m_output.text("{");
    m_is_first_value = true;
    return *this;
}

TraceEvents& TraceEvents::close_object()
{
    m_output.text("}");
    m_is_first_value = false;
    return *this;
}

TraceEvents& TraceEvents::open_list(Key name)
{
    key(name).text("[");
    m_is_first_value = true;
    return *this;
}

TraceEvents& TraceEvents::close_list()
{
    m_output.text("]");
    m_is_first_value = false;
    return *this;
}

void TraceEvents::separate()
{
    if (!m_is_first_value)
        m_output.text(",");
    m_is_first_value = false;
}

TextOutput& TraceEvents::key(Key key)
{
    separate();
    return m_output.text("\"").text(key.name()).text("\":");
}

TextOutput& TraceEvents::named_key(std::string_view name)
{
    separate();
    quoted(name);
    return m_output.text(":");
}

/// What is no UTF-8, which JSON cannot hold, becomes U+FFFD byte by byte.
void TraceEvents::quoted(std::string_view text)
{
    m_output.text("\"");
    for (;;) {
        const std::size_t plain = plain_size<'"', '\\'>(text);
        m_output.text(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty())
            break;
        text.remove_prefix(escaped(text));
    }
    m_output.text("\"");
}

/// Writes the first character, which is not plain, and says how many bytes it has.
std::size_t TraceEvents::escaped(std::string_view text)
{
    const char first = text[0];
    if (first == '"' || first == '\\') {
        m_output.text("\\").text(text.substr(0, 1));
        return 1;
    }
    if (const auto byte = static_cast<unsigned char>(first); byte < 0x80) {
        static constexpr char digits[] = "0123456789abcdef";
        const char number[] = {digits[byte >> 4], digits[byte & 15]};
        m_output.text("\\u00").text({number, sizeof number});
        return 1;
    }
    const std::size_t valid = character_size(text);
    m_output.text(valid > 0 ? text.substr(0, valid) : "\xef\xbf\xbd");
    return std::max<std::size_t>(valid, 1);
}

} // namespace hdtrace::exporter::chrome
