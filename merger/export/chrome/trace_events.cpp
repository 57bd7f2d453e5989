#include "merger/export/chrome/trace_events.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

#include <glib.h>

#include "hdtrace/matching/saturated.h"

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

void append_escaped(std::string& out, char c)
{
    static constexpr char digits[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\u00";
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

bool is_plain(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
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

TraceEvents& TraceEvents::text(std::string_view name, std::string_view value)
{
    key(name);
    quoted(value);
    return *this;
}

TraceEvents& TraceEvents::number(std::string_view name, std::int64_t value)
{
    key(name);
    m_output.number(value);
    return *this;
}

TraceEvents& TraceEvents::number(std::string_view name, double value)
{
    char digits[64];
    key(name);
    m_output.text({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
    return *this;
}

TraceEvents& TraceEvents::microseconds(std::string_view name, std::int64_t nanoseconds)
{
    key(name);
    if (nanoseconds < 0)
        m_output.text("-");
    const std::string fraction = std::to_string(1000 + std::abs(nanoseconds % 1000));
    m_output.number(std::abs(nanoseconds / 1000)).text(".").text(std::string_view(fraction).substr(1));
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
        if (is_exact && std::to_string(*integer) == value)
            number(name, *integer);
        else
            text(name, value);
    }
    return *this;
}

TraceEvents& TraceEvents::open_object(std::string_view name)
{
    key(name);
    m_output.text("{");
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

TraceEvents& TraceEvents::open_list(std::string_view name)
{
    key(name);
    m_output.text("[");
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

void TraceEvents::key(std::string_view key)
{
    separate();
    quoted(key);
    m_output.text(":");
}

/// What is no UTF-8, which JSON cannot hold, becomes U+FFFD byte by byte.
void TraceEvents::quoted(std::string_view text)
{
    std::string out = "\"";
    while (!text.empty()) {
        std::size_t size = 1;
        if (is_plain(text[0])) {
            out += text[0];
        } else if (static_cast<unsigned char>(text[0]) < 0x80) {
            append_escaped(out, text[0]);
        } else if (const std::size_t valid = character_size(text)) {
            size = valid;
            out += text.substr(0, size);
        } else {
            out += "\xef\xbf\xbd";
        }
        text.remove_prefix(size);
    }
    m_output.text(out += '"');
}

} // namespace hdtrace::exporter::chrome
