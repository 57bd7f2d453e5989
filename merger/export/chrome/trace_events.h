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

    TraceEvents& text(std::string_view key, std::string_view value);
    TraceEvents& number(std::string_view key, std::int64_t value);
    /// Must be finite.
    TraceEvents& number(std::string_view key, double value);
    TraceEvents& microseconds(std::string_view key, std::int64_t nanoseconds);
    /// The attributes of a call, but for its times; numbers as numbers where a double holds them.
    TraceEvents& attributes(const AttributeList& attributes);

    TraceEvents& open_object(std::string_view key);
    TraceEvents& open_object();
    TraceEvents& close_object();
    TraceEvents& open_list(std::string_view key);
    TraceEvents& close_list();

    std::int64_t origin() const { return m_origin; }
    /// Ends the file.
    void finish();

  private:
    void separate();
    void key(std::string_view key);
    /// In quotes.
    void quoted(std::string_view text);

    TextOutput m_output;
    std::int64_t m_origin;
    bool m_is_first_event = true;
    bool m_is_first_value = true;
};

} // namespace hdtrace::exporter::chrome
