// Events of the trace-event format, written one after the other.
#pragma once

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

/// What we call a value in an object: a literal of which nothing has to be escaped.
class Key {
  public:
    template <std::size_t size>
    // NOLINTNEXTLINE(google-explicit-constructor): text("name", ...)
    consteval Key(const char (&name)[size]) : m_name(name, size - 1)
    {
        for (const char c : m_name)
            if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
                throw "would have to be escaped";
    }

    constexpr std::string_view name() const { return m_name; }

  private:
    std::string_view m_name;
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

    TraceEvents& text(Key key, std::string_view value);
    TraceEvents& number(Key key, std::int64_t value);
    TraceEvents& microseconds(Key key, std::int64_t nanoseconds);
    /// What the program names. The value must be finite.
    TraceEvents& named_number(std::string_view name, double value);
    /// The attributes of a call, but for its times; numbers as numbers where a double holds them.
    TraceEvents& attributes(const AttributeList& attributes);

    TraceEvents& open_object(Key key);
    TraceEvents& open_object();
    TraceEvents& close_object();
    TraceEvents& open_list(Key key);
    TraceEvents& close_list();

    std::int64_t origin() const { return m_origin; }
    /// Ends the file.
    void finish();

  private:
    void separate();
    TextOutput& key(Key key);
    TextOutput& named_key(std::string_view name);
    /// In quotes.
    void quoted(std::string_view text);
    std::size_t escaped(std::string_view text);

    TextOutput m_output;
    std::int64_t m_origin;
    bool m_is_first_event = true;
    bool m_is_first_value = true;
};

} // namespace hdtrace::exporter::chrome
