// Writes a .trc file (docs/format.md): one buffer, one file, one thread.
#pragma once

#include "hdtrace/writer/block_position.h"
#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/compressor.h"
#include "hdtrace/writer/info_writer.h"
#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/text.h"
#include "hdtrace/writer/trace_settings.h"

namespace hdtrace {

/// A state is opened by enter(), and written when it ends, by an Element. States that end between the two are
/// nested.
///
/// Functions belong to the one thread that records; only save() and close() may be called by another one,
/// while that thread records or not, and by a signal handler. What was recorded before is safe in the file
/// when they returned 0. The file is a whole, closed trace at every moment. States that have not ended by
/// then are in it as unfinished ones, until they end.
class TraceWriter {
  public:
    /// Memory that an Element has for its name and attributes without asking for more.
    static constexpr size_t element_room = 4096;
    /// How deep states can be nested.
    static constexpr int max_depth = 62;
    static constexpr size_t longest_name = 64;

    TraceWriter() = default;
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;
    ~TraceWriter();

    /// Creates the file, whose name gets a suffix if it is compressed, and writes its first lines; removes
    /// traces of the same name in another form. @p root_attributes is XML, @p base the second (since the
    /// epoch) that times in the file count from, @p info is flushed before this trace (may be null; not
    /// owned). Returns 0 or a value of errno.
    int open(const char* path, const char* root_attributes, int64_t base, const TraceSettings& settings,
             InfoWriter* info);
    /// Ends the file; returns 0 or a value of errno. Calling it again does nothing.
    int close();

    /// Begins a state or, right before its Element, an event. At most max_depth may be open. Only states with
    /// a @p name (a constant, not copied, at most longest_name bytes) can be seen before they end.
    void enter(const char* name = nullptr, int64_t begin = 0)
    {
        const int depth = m_depth + 1;
        m_nested_blocks &= ~(1ull << depth);
        __atomic_store_n(&m_open[depth].name, name, __ATOMIC_RELAXED);
        __atomic_store_n(&m_open[depth].begin, begin, __ATOMIC_RELAXED);
        __atomic_store_n(&m_depth, depth, __ATOMIC_RELEASE);
    }
    int depth() const { return m_depth; }
    /// The states beyond @p depth, all of them with names, will never end: they are written as unfinished
    /// ones.
    void give_up_states(int depth, int64_t now);
    /// Writes all whole lines to the file.
    int flush();
    /// The same without making room in the buffer, and with the unfinished states; may be called by any
    /// thread and by signal handlers.
    int save();
    void set_force_flush(bool force)
    {
        m_settings.force_flush = force;
        m_line_end_is_slow = force || m_line_end_is_slow;
    }

    /// How many states have left the buffer, and how many of them were lost instead of written.
    /// Not to be called while another thread calls close().
    int64_t states() const { return m_written_states + m_dropped_states; }
    int64_t dropped_states() const { return m_dropped_states; }
    int error() const { return m_error; }
    /// Whether the file is compressed: not if that was not asked for, or there is no library that can do it.
    bool is_compressed() const { return m_compressor.is_open(); }

  private:
    friend class Element;

    // A part of the buffer from its beginning on. One word, so that a thread which calls close() sees both or
    // none.
    struct alignas(8) Extent {
        uint32_t bytes;
        uint32_t states;
        bool operator==(const Extent&) const = default;
    };

    struct OpenState {
        const char* name;
        int64_t begin;
    };

    // The states that have begun and not ended, and the elements inside them that have.
    struct Unfinished {
        Extent whole_lines;
        Extent elements; // whole lines included
        int depth;
        int open_blocks;                 // <Nested> in the elements
        OpenState states[max_depth + 2]; // from 1 on
    };

    char* begin_element()
    {
        if (m_depth == 1 && m_nested_blocks == 0 && static_cast<size_t>(m_limit - m_cursor) >= element_room)
            return m_cursor;
        return begin_element_slowly();
    }
    void end_element(char* cursor)
    {
        m_cursor = cursor;
        store(m_elements);
        const int depth = m_depth - 1;
        __atomic_store_n(&m_depth, depth, __ATOMIC_RELEASE);
        if (depth == 0)
            end_line();
    }
    void end_line()
    {
        *m_cursor++ = '\n';
        if (m_line_end_is_slow)
            end_line_slowly();
        else
            store(m_committed);
    }
    void store(Extent& extent)
    {
        Extent now = {static_cast<uint32_t>(m_cursor - m_begin), m_ended_states};
        __atomic_store(&extent, &now, __ATOMIC_RELEASE);
    }
    char* put_time(char* out, int64_t time)
    {
        const uint64_t in_span = static_cast<uint64_t>(time - m_span);
        if (in_span >= last_digits_end)
            return put_time_slowly(out, time);
        memcpy(out, m_span_text, sizeof m_span_text);
        return cut_digits(put_last_digits(out + m_span_length, static_cast<uint32_t>(in_span)));
    }
    // They are not rounded: so no state ends before it begins.
    char* cut_digits(char* end) const { return end - m_cut_digits; }

    char* begin_element_slowly();
    void end_line_slowly();
    void drop_line();
    bool choose_path(const char* path);
    int open_file(Text head);
    char* put_time_slowly(char* out, int64_t time);
    char* put_relative_time(char* out, int64_t time) const;
    char* open_nested_blocks(char* cursor);
    char* make_room(char* cursor, size_t size);
    bool reallocate(size_t capacity);
    int flush(const Lock& lock);
    static Extent load(const Extent& shared);
    Unfinished find_unfinished() const;
    bool look_at_unfinished(Unfinished& found) const;
    bool can_be_told(Unfinished& found) const;
    Text elements_of(const Unfinished& unfinished) const;
    Text put_tail(const Unfinished& unfinished) const;
    void write(const Lock& lock, const Unfinished& unfinished);
    int write_to_file(Text lines, Text elements, Text tail, const Undisturbed& undisturbed);
    int write_compressed(Text lines, Text elements, Text tail, const Undisturbed& undisturbed);
    void fail(int error);

    char* m_cursor = nullptr; // where the next element goes
    char* m_limit = nullptr;
    uint64_t m_nested_blocks = 0; // bit d: the state at depth d has an open <Nested>
    int m_depth = 0;
    uint32_t m_ended_states = 0; // in the buffer
    bool m_line_end_is_slow = false;
    bool m_out_of_memory = false;                 // the current line is incomplete and must not be written
    int64_t m_span = -2 * nanoseconds_per_second; // times from here on differ in the last digits only
    size_t m_span_length = 0;
    int m_cut_digits = 0;    // of the nine behind the point
    char m_span_text[16];    // the digits that they share: at most ten, the point, and three
    Extent m_committed = {}; // whole lines; this and what follows is read by save() and close()
    Extent m_elements = {};  // whole elements
    char* m_begin =
        nullptr; // behind m_limit there is room for the tail of the file, then for what is compressed
    OpenState m_open[max_depth + 2] = {};

    TraceSettings m_settings;
    size_t m_capacity = 0;   // of the buffer, when no line is longer
    int64_t m_base = 0;      // nanoseconds
    Extent m_handled = {};   // the part of the committed lines that has been written already
    bool m_has_tail = false; // the file ends with an unfinished line
    int64_t m_written_states = 0;
    int64_t m_dropped_states = 0;
    InfoWriter* m_info = nullptr;
    char* m_path = nullptr;
    pthread_mutex_t m_mutex =
        HDTRACE_MUTEX_INITIALIZER; // held while the file is used, the counts change, the buffer moves
    bool m_closed = false;
    int m_error = 0;
    OutputFile m_file;
    Compressor m_compressor;
    BlockPosition m_next_block; // only with compression
    char m_compressed_footer[Compressor::bound(0) + 64];
};

/// Builds the text of a state or an event that ends now. The constant parts come from the caller, ready as
/// XML:
///
///     writer.enter();                       // when the state begins
///     ...
///     Element element(writer);              // when it ends
///     element.text("<Send toRank='").number(3).text("'").end(begin, end, "Send");
class Element {
  public:
    explicit Element(TraceWriter& writer) : m_writer(writer), m_cursor(writer.begin_element()) {}
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;

    template <size_t Size> Element& text(const char (&constant)[Size])
    {
        m_cursor = put_text(m_cursor, constant);
        return *this;
    }
    /// A text that needs no escaping, e.g. an MPI constant; together with the rest at most element_room.
    Element& name(const char* constant)
    {
        const size_t length = strlen(constant);
        memcpy(m_cursor, constant, length);
        m_cursor += length;
        return *this;
    }
    Element& number(int64_t value)
    {
        m_cursor = put_number(m_cursor, value);
        return *this;
    }
    Element& escaped(const char* text)
    {
        const size_t length = strlen(text);
        if (room(length * max_escape_length))
            m_cursor = put_xml_escaped(m_cursor, text, length);
        return *this;
    }
    Element& raw(const char* xml, size_t size)
    {
        if (room(size)) {
            memcpy(m_cursor, xml, size);
            m_cursor += size;
        }
        return *this;
    }
    /// The attributes `time` and `end`, in nanoseconds since the epoch.
    Element& times(int64_t begin, int64_t end)
    {
        text(" time='");
        m_cursor = m_writer.put_time(m_cursor, begin);
        text("' end='");
        m_cursor = m_writer.put_time(m_cursor, end);
        return text("'");
    }
    /// Begins a child element; @p start is e.g. "<For rid='". Attributes follow by text() and number(), then
    /// end_child().
    template <size_t Size> Element& child(const char (&start)[Size])
    {
        room(child_room);
        if (!m_has_children) {
            text(" >");
            m_has_children = true;
        }
        return text(start);
    }
    Element& end_child() { return text(" />"); }
    /// Adds child elements that are XML already; none if @p size is 0.
    Element& children(const char* xml, size_t size) { return size == 0 ? *this : child("").raw(xml, size); }
    /// Ends the element, behind its attributes or its children, and with it the state.
    void end(const char* element_name)
    {
        if (m_has_children)
            end_children(element_name);
        else
            text(" />");
        ++m_writer.m_ended_states;
        m_writer.end_element(m_cursor);
    }
    /// The same for an event.
    void end_event(int64_t time)
    {
        text(" time='");
        m_cursor = m_writer.put_time(m_cursor, time);
        text("' />");
        m_writer.end_element(m_cursor);
    }

  private:
    static constexpr size_t child_room = 512;

    void end_children(const char* element_name);

    // Room for `size` bytes and for the constant rest of the element. Only if memory is short it may be less.
    bool room(size_t size)
    {
        const size_t wanted = size + TraceWriter::element_room;
        if (available() < wanted)
            m_cursor = m_writer.make_room(m_cursor, wanted);
        return available() >= wanted;
    }
    size_t available() const { return static_cast<size_t>(m_writer.m_limit - m_cursor); }

    TraceWriter& m_writer;
    char* m_cursor;
    bool m_has_children = false;
};

} // namespace hdtrace
