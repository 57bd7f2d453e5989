// Events of the trace-event format, written one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hdtrace/format/element.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter::chrome {

/// A thread of a process, as viewers number them.
struct Track {
    std::int64_t process = 0;
    std::int64_t thread = 0;

    bool operator==(const Track&) const = default;
    auto operator<=>(const Track&) const = default;
};

/// What we call a value in an object, as it stands behind another one: `,"name":`. The name is a literal of
/// which nothing has to be escaped.
template <std::size_t size> struct Key {
    // NOLINTNEXTLINE(google-explicit-constructor): text<"name">(...)
    consteval Key(const char (&name)[size])
    {
        char* end = std::copy_n(",\"", 2, text);
        for (const char c : std::string_view(name, size - 1)) {
            if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
                throw "would have to be escaped";
            *end++ = c;
        }
        std::copy_n("\":", 2, end);
    }

    char text[size + 3] = {};
};

/// Functions throw what the sink throws. Times are nanoseconds since the epoch; in the file they count from
/// the origin, since microseconds since the epoch have no room for nanoseconds in a double.
class TraceEvents {
  public:
    TraceEvents(TextOutput::Sink sink, std::int64_t origin);

    /// Begins an event; its own keys follow, then end().
    TraceEvents& begin(std::string_view phase, std::string_view name, const Track& track);
    TraceEvents& begin(std::string_view phase, std::string_view name, const Track& track, std::int64_t time);
    /// The event is in the file.
    void end();

    template <Key key> TraceEvents& text(std::string_view value)
    {
        put_key<key>();
        return quoted(value);
    }
    template <Key key> TraceEvents& number(std::int64_t value)
    {
        put_key<key>().number(value);
        return *this;
    }
    template <Key key> TraceEvents& microseconds(std::int64_t nanoseconds)
    {
        put_key<key>().microseconds(nanoseconds);
        return *this;
    }
    /// What the program names. The value must be finite.
    TraceEvents& named_number(std::string_view name, double value);
    /// The attributes of a call, but for its times; numbers as numbers where a double holds them.
    TraceEvents& attributes(const AttributeList& attributes);

    template <Key key> TraceEvents& open_object() { return open<key>("{"); }
    TraceEvents& open_object();
    TraceEvents& close_object() { return close("}"); }
    template <Key key> TraceEvents& open_list() { return open<key>("["); }
    TraceEvents& close_list() { return close("]"); }

    std::int64_t origin() const { return m_origin; }
    /// Ends the file.
    void finish();

  private:
    template <Key key> TextOutput& put_key()
    {
        const std::string_view text(key.text, sizeof key.text);
        m_output.text(m_is_first_value ? text.substr(1) : text);
        m_is_first_value = false;
        return m_output;
    }
    template <Key key> TraceEvents& open(std::string_view bracket)
    {
        put_key<key>().text(bracket);
        m_is_first_value = true;
        return *this;
    }
    TraceEvents& close(std::string_view bracket)
    {
        m_output.text(bracket);
        m_is_first_value = false;
        return *this;
    }
    /// What the program names, behind another value or not.
    char* put_named_key(char* place, std::string_view name);
    TraceEvents& quoted(std::string_view text);

    TextOutput m_output;
    std::int64_t m_origin;
    bool m_is_first_event = true;
    bool m_is_first_value = true;
};

} // namespace hdtrace::exporter::chrome
