// How the parts of an element get into a compact trace (compact_lines.h).
#pragma once

#include "hdtrace/writer/trace_writer.h"
#include "hdtrace/writer/xml_text.h"

// The parts of an element are known where it is built: there little is left of these functions.
#define HDTRACE_INLINE __attribute__((always_inline))

namespace hdtrace {

/// Builds the records of an element. Its functions are those of TextElement (element.h).
class CompactElement {
  public:
    explicit CompactElement(TraceWriter& writer)
        : m_writer(writer), m_lines(writer.m_compact), m_cursor(writer.begin_compact_element())
    {
    }
    CompactElement(const CompactElement&) = delete;
    CompactElement& operator=(const CompactElement&) = delete;

    template <typename... Parts> HDTRACE_INLINE CompactElement& add(Parts... parts)
    {
        constexpr auto& marked = marked_text<Parts...>;
        if constexpr (marked.values > 0) {
            part(marked.text, marked.values);
            (put(parts), ...);
        } else {
            part(marked.text);
        }
        return *this;
    }
    template <size_t Size> HDTRACE_INLINE CompactElement& text(const char (&constant)[Size])
    {
        return part(constant);
    }
    HDTRACE_INLINE CompactElement& name(const char* constant) { return part(constant); }
    HDTRACE_INLINE CompactElement& number(int64_t value) { return valued_part(number_part, value); }
    HDTRACE_INLINE CompactElement& seconds(int64_t nanoseconds)
    {
        return valued_part(seconds_part, nanoseconds);
    }
    HDTRACE_INLINE CompactElement& site(const ShortText& kept)
    {
        return kept.length == 0 ? *this : valued_part(site_part, kept.number - 1);
    }
    HDTRACE_INLINE CompactElement& name_of(NamedValues names, int value)
    {
        const char* const found = find_name(names, value);
        return found != nullptr ? name(found) : number(value);
    }
    HDTRACE_INLINE CompactElement& times(int64_t begin, int64_t end)
    {
        m_begin = begin;
        m_end = end;
        return part(m_lines.times_part());
    }
    HDTRACE_INLINE CompactElement& site_and_times(const ShortText& kept, int64_t begin, int64_t end)
    {
        if (kept.length == 0)
            return times(begin, end);
        m_begin = begin;
        m_end = end;
        return valued_part(m_lines.site_and_times_part(), kept.number - 1);
    }
    HDTRACE_INLINE CompactElement& time(int64_t time)
    {
        m_end = time;
        return part(m_lines.time_part());
    }

    // ---- what has no form ----

    template <typename Put> HDTRACE_INLINE CompactElement& written_by(Put put)
    {
        finish_form();
        char* const begin = CompactLines::begin_text(m_cursor);
        m_cursor = put(begin);
        m_lines.add_text(begin, m_cursor);
        return *this;
    }
    HDTRACE_INLINE CompactElement& names_of(NamedValues names, int value)
    {
        return written_by([=](char* out) { return put_names(out, names, value); });
    }
    HDTRACE_INLINE CompactElement& arguments_left(const OpenState& state)
    {
        return written_by(
            [&](char* out) { return state.put_attributes(out, out + TraceWriter::element_room / 2, true); });
    }
    HDTRACE_INLINE CompactElement& escaped(const char* text)
    {
        const size_t length = strlen(text);
        finish_form();
        if (room(length * max_escape_length))
            written_by([=](char* out) { return put_xml_escaped(out, text, length); });
        return *this;
    }
    HDTRACE_INLINE CompactElement& raw(const char* xml, size_t size)
    {
        finish_form();
        if (room(size))
            written_by([=](char* out) {
                memcpy(out, xml, size);
                return out + size;
            });
        return *this;
    }

    // ---- children, and the end ----

    HDTRACE_INLINE CompactElement& begin_child()
    {
        if (m_count >= enough_values) {
            finish_form();
            room(0);
        }
        if (!m_has_children)
            text(" >");
        m_has_children = true;
        return *this;
    }
    template <size_t Size> HDTRACE_INLINE CompactElement& child(const char (&start)[Size])
    {
        return begin_child().text(start);
    }
    HDTRACE_INLINE CompactElement& end_child() { return text(" />"); }
    HDTRACE_INLINE CompactElement& children(const char* xml, size_t size)
    {
        return size == 0 ? *this : begin_child().raw(xml, size);
    }
    HDTRACE_INLINE void end(const char* element_name)
    {
        if (m_has_children)
            text("</").name(element_name).part(ends_line() ? ">\n" : ">");
        else
            part(ends_line() ? " />\n" : " />");
        m_writer.m_buffer.count_state();
        finish();
    }
    HDTRACE_INLINE void end_with(const char* element_name, size_t size)
    {
        if (m_has_children)
            text("</").raw(element_name, size).part(ends_line() ? ">\n" : ">");
        else
            part(ends_line() ? " />\n" : " />");
        m_writer.m_buffer.count_state();
        finish();
    }
    HDTRACE_INLINE void end_event(int64_t event_time)
    {
        time(event_time).part(ends_line() ? " />\n" : " />");
        finish();
    }

  private:
    using Form = CompactLines::Form;
    static constexpr char number_part[] = {compact_mark::number, '\0'};
    static constexpr char seconds_part[] = {compact_mark::seconds, '\0'};
    static constexpr char site_part[] = " site='\1'";
    static_assert(compact_mark::number == '\1');
    /// A child does not join others that have more.
    static constexpr int enough_values = 16;

    HDTRACE_INLINE CompactElement& part(const char* constant)
    {
        if (m_form != nullptr) {
            m_form = m_lines.next(m_form, constant);
        } else {
            m_form = m_lines.start(constant);
            m_expected = m_form->expected;
            m_last = m_expected->last;
            m_room = m_expected->value_count;
        }
        return *this;
    }
    HDTRACE_INLINE CompactElement& part(const char* constant, int values)
    {
        part(constant);
        if (__builtin_expect(m_count + values > m_room, false))
            expect_nothing(constant, values);
        return *this;
    }
    /// It has more values than the form that was expected, or than any form.
    HDTRACE_INLINE void expect_nothing(const char* constant, int values)
    {
        if (m_count + values > most_compact_values) {
            if (!m_lines.is_lost(m_form)) {
                m_form = m_form->shorter;
                finish_form();
                part(constant);
            }
            m_count = 0;
        }
        m_lines.set_values(m_last, m_count, m_changed);
        m_expected = nullptr;
        m_last = m_lines.values();
        m_room = most_compact_values;
    }
    HDTRACE_INLINE CompactElement& valued_part(const char* constant, int64_t value)
    {
        part(constant, 1);
        put(value);
        return *this;
    }
    template <FixedText Text> HDTRACE_INLINE void put(XmlText<Text>) {}
    HDTRACE_INLINE void put(int64_t value)
    {
        if (__builtin_expect(value != m_last[m_count], false)) {
            uint64_t bit = uint64_t{1} << m_count;
            asm("" : "+r"(bit)); // else GCC keeps the sums of all of them at hand
            m_changed |= bit;
            m_lines.values()[m_count] = value;
        }
        ++m_count;
    }

    HDTRACE_INLINE bool ends_line() const { return m_writer.depth() == 1; }
    /// What comes next has another form.
    HDTRACE_INLINE void finish_form()
    {
        if (m_form == nullptr)
            return;
        if (__builtin_expect(m_form == m_expected && m_lines.has_number(m_form), true)) {
            m_cursor = m_lines.put_line(m_cursor, m_form, m_changed, m_begin, m_end);
        } else {
            m_lines.set_values(m_last, m_count, m_changed);
            m_cursor = put_unexpected(m_writer, m_cursor, m_form, m_begin, m_end);
        }
        m_form = nullptr;
        m_count = 0;
        m_changed = 0;
    }
    HDTRACE_INLINE void finish()
    {
        finish_form();
        m_writer.end_compact_element(m_cursor);
    }
    HDTRACE_INLINE bool room(size_t size) { return room(m_writer, m_cursor, size); }

    // Not members: who hands an element to one makes it lie in memory.
    static bool room(TraceWriter& writer, char*& cursor, size_t size)
    {
        const size_t wanted = size + TraceWriter::element_room;
        if (writer.m_buffer.room_behind(cursor) < wanted)
            cursor = writer.make_room(cursor, wanted);
        return writer.m_buffer.room_behind(cursor) >= wanted;
    }
    static const char* find_name(NamedValues names, int value);
    /// Another form than expected, or the first one in a unit.
    static char* put_unexpected(TraceWriter& writer, char* cursor, Form* form, int64_t begin, int64_t end);

    TraceWriter& m_writer;
    CompactLines& m_lines;
    char* m_cursor;
    Form* m_form = nullptr;
    Form* m_expected = nullptr;      ///< the form that the last element became that began the same
    const int64_t* m_last = nullptr; ///< its values
    int m_room = 0;                  ///< how many
    int m_count = 0;                 ///< of values until now
    uint64_t m_changed = 0;          ///< those that are not the last ones, as bits
    bool m_has_children = false;
    int64_t m_begin = 0;
    int64_t m_end = 0;
};

} // namespace hdtrace

#undef HDTRACE_INLINE
