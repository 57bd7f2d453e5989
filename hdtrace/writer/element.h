// How the parts of an element get into a trace: inline, for the constant parts are known where it is built.
#pragma once

#include "hdtrace/writer/compact_element.h"
#include "hdtrace/writer/trace_writer.h"

namespace hdtrace {

/// Builds the text of an element.
class TextElement {
  public:
    explicit TextElement(TraceWriter& writer) : m_writer(writer), m_cursor(writer.begin_element()) {}
    TextElement(const TextElement&) = delete;
    TextElement& operator=(const TextElement&) = delete;

    /// Texts and numbers behind each other.
    template <typename... Parts> TextElement& add(Parts... parts)
    {
        (put(parts), ...);
        return *this;
    }
    template <size_t Size> TextElement& text(const char (&constant)[Size])
    {
        m_cursor = put_text(m_cursor, constant);
        return *this;
    }
    /// A constant that needs no escaping, e.g. the name of one of MPI's; with the rest at most element_room.
    TextElement& name(const char* constant)
    {
        m_cursor = put_constant(m_cursor, constant);
        return *this;
    }
    /// What put(out) writes at `out`, together with the rest at most element_room; it returns the end. For
    /// functions that are not inline: who hands an element to one makes it lie in memory.
    template <typename Put> TextElement& written_by(Put put)
    {
        m_cursor = put(m_cursor);
        return *this;
    }
    /// Its memory is copied as a whole, which needs no call.
    TextElement& site(const ShortText& kept)
    {
        memcpy(m_cursor, kept.text, sizeof kept.text);
        m_cursor += kept.length;
        return *this;
    }
    TextElement& number(int64_t value)
    {
        m_cursor = put_number(m_cursor, value);
        return *this;
    }
    /// Seconds with nine digits behind the point; not negative.
    TextElement& seconds(int64_t nanoseconds)
    {
        m_cursor = put_seconds(m_cursor, nanoseconds);
        return *this;
    }
    TextElement& escaped(const char* text)
    {
        const size_t length = strlen(text);
        if (room(length * max_escape_length))
            m_cursor = put_xml_escaped(m_cursor, text, length);
        return *this;
    }
    TextElement& raw(const char* xml, size_t size)
    {
        if (room(size)) {
            memcpy(m_cursor, xml, size);
            m_cursor += size;
        }
        return *this;
    }
    /// The name of a constant, and those of a sum of constants; together with the rest at most element_room.
    TextElement& name_of(NamedValues names, int value)
    {
        m_cursor = put_name(m_cursor, names, value);
        return *this;
    }
    TextElement& names_of(NamedValues names, int value)
    {
        m_cursor = put_names(m_cursor, names, value);
        return *this;
    }
    /// What is still known of a state that was left.
    TextElement& arguments_left(const OpenState& state)
    {
        m_cursor = state.put_attributes(m_cursor, m_cursor + TraceWriter::element_room / 2, true);
        return *this;
    }
    /// The attributes `time` and `end`, in nanoseconds since the epoch.
    TextElement& times(int64_t begin, int64_t end)
    {
        m_cursor = put_times(m_writer.m_times, m_cursor, begin, end);
        return *this;
    }
    /// Both behind each other, as nearly all states have them.
    TextElement& site_and_times(const ShortText& kept, int64_t begin, int64_t end)
    {
        return site(kept).times(begin, end);
    }
    /// Comes before the text of a child element.
    TextElement& begin_child()
    {
        room(child_room);
        if (!m_has_children) {
            text(" >");
            m_has_children = true;
        }
        return *this;
    }
    /// Begins a child element; @p start is e.g. "<For rid='". Attributes follow by text() and number(), then
    /// end_child().
    template <size_t Size> TextElement& child(const char (&start)[Size]) { return begin_child().text(start); }
    TextElement& end_child() { return text(" />"); }
    /// Adds child elements that are XML already; none if @p size is 0.
    TextElement& children(const char* xml, size_t size)
    {
        return size == 0 ? *this : begin_child().raw(xml, size);
    }
    /// Ends the element, behind its attributes or its children, and with it the state.
    __attribute__((always_inline)) void end(const char* element_name)
    {
        if (m_has_children)
            m_cursor = end_children(m_writer, m_cursor, element_name);
        else
            text(" />");
        m_writer.m_buffer.count_state();
        m_writer.end_element(m_cursor);
    }
    /// The same with a name that is no constant.
    void end_with(const char* element_name, size_t size)
    {
        if (m_has_children)
            text("</").raw(element_name, size).text(">");
        else
            text(" />");
        m_writer.m_buffer.count_state();
        m_writer.end_element(m_cursor);
    }
    /// The attribute `time` of an event, in nanoseconds since the epoch.
    TextElement& time(int64_t time)
    {
        text(" time='");
        m_cursor = m_writer.m_times.put(m_cursor, time);
        return text("'");
    }
    /// The same as end() for an event without children, which is no state.
    void end_event(int64_t event_time)
    {
        time(event_time).text(" />");
        m_writer.end_element(m_cursor);
    }

  private:
    static constexpr size_t child_room = 512;

    template <FixedText Text> void put(XmlText<Text>) { m_cursor = put_text(m_cursor, Text.text); }
    void put(int64_t value) { m_cursor = put_number(m_cursor, value); }

    static char* put_times(TimeText& times, char* cursor, int64_t begin, int64_t end);
    static char* end_children(TraceWriter& writer, char* cursor, const char* element_name);

    // Room for `size` bytes and for the constant rest of the element. Only if memory is short it may be less.
    bool room(size_t size) { return room(m_writer, m_cursor, size); }
    static bool room(TraceWriter& writer, char*& cursor, size_t size)
    {
        const size_t wanted = size + TraceWriter::element_room;
        if (writer.m_buffer.room_behind(cursor) < wanted)
            cursor = writer.make_room(cursor, wanted);
        return writer.m_buffer.room_behind(cursor) >= wanted;
    }

    TraceWriter& m_writer;
    char* m_cursor;
    bool m_has_children = false;
};

/// Writes the element of a state or an event that ends now: build(element) gets a TextElement or, in a
/// compact trace, a CompactElement. The constant parts come from the caller, ready as XML:
///
///     writer.enter();                       // when the state begins
///     ...
///     write_element(writer, [&](auto& element) { // when it ends
///         element.text("<Send toRank='").number(3).text("'").times(begin, end).end("Send");
///     });
template <typename Build>
__attribute__((always_inline)) inline void write_element(TraceWriter& writer, Build build)
{
    if (__builtin_expect(writer.is_compact(), false)) {
        CompactElement element(writer);
        build(element);
    } else {
        TextElement element(writer);
        build(element);
    }
}

} // namespace hdtrace
