// Writes the states and events of one thread to a .trc file (docs/format.md).
#pragma once

#include "hdtrace/writer/compact_lines.h"
#include "hdtrace/writer/info_writer.h"
#include "hdtrace/writer/line_buffer.h"
#include "hdtrace/writer/open_state.h"
#include "hdtrace/writer/program_memory.h"
#include "hdtrace/writer/time_text.h"
#include "hdtrace/writer/trace_file.h"
#include "hdtrace/writer/trace_settings.h"

namespace hdtrace {

/// A state is opened by enter(), and written when it ends, by write_element() (element.h). States that end
/// between the two are nested.
///
/// Functions belong to the one thread that records; only save() and close() may be called by another one,
/// while that thread records or not, and by a signal handler. What was recorded before is safe in the file
/// when they returned 0. The file is a whole, closed trace at every moment. States that have not ended by
/// then are in it as unfinished ones, until they end.
class TraceWriter {
  public:
    /// Memory that an element has for its name and attributes without asking for more.
    static constexpr size_t element_room = 4096;
    /// How deep states can be nested.
    static constexpr int max_depth = 62;
    static constexpr size_t longest_name = 64;

    TraceWriter() = default;
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;
    ~TraceWriter() { close(); }

    /// Creates the file, whose name gets a suffix if it is compressed, and writes its first lines; removes
    /// traces of the same name in another form. @p root_attributes is XML, @p base the second (since the
    /// epoch) that times in the file count from, @p info is flushed before this trace (may be null; not
    /// owned). Returns 0 or a value of errno.
    int open(const char* path, const char* root_attributes, int64_t base, const TraceSettings& settings,
             InfoWriter* info);
    /// Ends the file; returns 0 or a value of errno. Calling it again does nothing.
    int close();

    /// Begins a state or, right before its element, an event, which cannot be seen before it ends. At most
    /// max_depth may be open.
    void enter()
    {
        OpenState& state = next_state();
        state.start(nullptr, 0);
        enter(state, 0);
    }
    /// What enter() begins next: first come its form, its arguments and its site.
    OpenState& next_state() { return __builtin_expect(m_depth == 0, true) ? m_open[1] : next_inner_state(); }
    void enter(OpenState& state, int64_t begin)
    {
        const int depth = m_depth + 1;
        m_nested_blocks &= ~(1ull << depth);
        state.set_begin(begin);
        __atomic_store_n(&m_depth, depth, __ATOMIC_RELEASE);
    }
    int depth() const { return m_depth; }
    /// The state that began last is not to be written. False if there is something in it: then it is.
    bool abandon_state()
    {
        const bool is_empty = !has_nested();
        if (is_empty)
            leave_state();
        return is_empty;
    }
    /// Whether there is something in the state that began last.
    bool has_nested() const { return (m_nested_blocks & (1ull << m_depth)) != 0; }
    /// The state that began last will not end, because of this: its `rc` where it is saved as an unfinished
    /// one.
    /// @p error is a constant of at most longest_name characters that need no escaping.
    void fail_state(const char* error) { __atomic_store_n(&m_failed_with, error, __ATOMIC_RELEASE); }
    /// The states beyond @p depth, all of them with forms, will never end: they are written as unfinished
    /// ones.
    void give_up_states(int depth, int64_t now);
    /// The same where nothing is written, for there are sums in place of states.
    void forget_states(int depth)
    {
        while (m_depth > depth)
            leave_state();
    }
    void forget_state() { leave_state(); }
    /// The thread has left an event while it was built. The line that it is in is lost, too.
    void lose_event();
    /// The state at a depth, from 1 to depth(), for the thread that records.
    const OpenState& open_state(int depth) const { return m_open[depth]; }
    /// tell(state) is called for each state that is open, the outermost first, as far as they have forms and
    /// can all be seen at once. For any thread and signal handlers.
    template <typename Tell> void tell_open_states(Tell tell)
    {
        const Lock lock(m_mutex);
        const int depth = lock.held() ? find_unfinished().depth : 0;
        for (int i = 1; i <= depth; ++i)
            tell(m_seen[i]);
    }
    /// Writes all whole lines to the file.
    int flush();
    /// The same without making room in the buffer, and with the unfinished states; may be called by any
    /// thread and by signal handlers.
    int save();
    /// Calls @p watch with @p object behind each line, when no state is open: it may add events. Null: no
    /// longer.
    void watch_lines(void (*watch)(void* object), void* object)
    {
        m_watch = watch;
        m_watching = object;
        m_line_end_is_slow = watch != nullptr || m_line_end_is_slow;
    }
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
    /// As it was asked for, unless there is no library that compresses so.
    Compression form() const { return m_file.form(); }
    /// Whether elements are written as records (compact_form.h).
    bool is_compact() const { return m_compact.is_open(); }

  private:
    friend class TextElement;
    friend class CompactElement;
    using Extent = LineBuffer::Extent;

    // The states that have begun and not ended, which are in m_seen, and the elements inside them that have.
    struct Unfinished {
        Extent whole_lines;
        Extent elements; // whole lines included
        int depth;
        int open_blocks = 0;   // <Nested> in the elements, if they are text
        bool is_final = false; // nothing is unfinished
        // As they were seen: they are the same as long as the states are.
        Extent seen_elements = elements;
        int seen_depth = depth;
        Extent ended_as = {};
    };

    // ---- building lines ----
    // A buffer of records can only be written between two lines: so much is there when one begins, and more
    // is had for it only if it is very long.
    static constexpr size_t compact_line_room = 4 * element_room;

    char* begin_element()
    {
        if (m_depth == 1 && m_nested_blocks == 0 && m_buffer.room() >= element_room)
            return m_buffer.cursor();
        return begin_element_slowly();
    }
    __attribute__((always_inline)) void end_element(char* cursor)
    {
        if (__builtin_expect(m_depth != 1, false))
            tell_end(cursor);
        m_buffer.end_element(cursor, m_buffer.elements_until(cursor));
        if (leave_state() == 0)
            end_line();
    }
    /// Before an element has ended, for those who see that before the state is left. Returns what the whole
    /// elements will be.
    Extent tell_end(const char* cursor)
    {
        Extent elements = m_buffer.elements_until(cursor);
        __atomic_store(&m_ended_as[m_depth], &elements, __ATOMIC_RELEASE);
        return elements;
    }
    char* begin_compact_element()
    {
        if (m_depth == 1 && m_nested_blocks == 0 && m_buffer.room() >= compact_line_room)
            return m_buffer.cursor();
        return begin_compact_element_slowly();
    }
    __attribute__((always_inline)) void end_compact_element(char* cursor)
    {
        const Extent elements = tell_end(cursor);
        m_buffer.end_element(cursor, elements);
        if (leave_state() != 0)
            return;
        m_compact.end_line();
        if (m_line_end_is_slow)
            end_line_slowly();
        else
            m_buffer.end_compact_line(elements);
    }
    int leave_state()
    {
        const int depth = m_depth - 1;
        __atomic_store_n(&m_depth, depth, __ATOMIC_RELEASE);
        store_before_program();
        return depth;
    }
    void end_line()
    {
        if (m_line_end_is_slow)
            end_line_slowly();
        else
            m_buffer.end_line();
    }
    char* begin_element_slowly();
    char* begin_compact_element_slowly();
    /// Returns where what is left of the line may go.
    char* lose_line();
    OpenState& next_inner_state();
    void end_line_slowly();
    void drop_line();
    int open_nested_blocks();
    bool close_nested_block();
    char* make_room(char* cursor, size_t size);
    void make_room_in_full_buffer();
    bool reallocate(size_t capacity);

    // ---- writing them ----
    int write_head(const char* root_attributes, int64_t base);
    size_t capacity_for(size_t buffer_size) const;
    int open_segment();
    int64_t states_before_segment() const;
    bool is_segment_full(int64_t bytes) const;
    void begin_segment(const Lock& lock);
    int flush(const Lock& lock);
    void write_whole_lines(const Lock& lock);
    Unfinished find_unfinished();
    Unfinished look_at_unfinished();
    bool is_still(const Unfinished& seen) const;
    bool can_be_told(Unfinished& found) const;
    bool has_ended(const Unfinished& found) const;
    Text elements_of(const Unfinished& unfinished) const;
    Text put_tail(const Unfinished& unfinished) const;
    Text put_tail(const Unfinished& unfinished, bool was_left) const;
    char* put_unfinished(char* out, int depth, int deepest, int64_t now, bool was_left) const;
    Text put_compact_tail(const Unfinished& unfinished, bool was_left) const;
    char* room_to_compress() const;
    void write(const Lock& lock, const Unfinished& unfinished);
    void count_written(const Unfinished& unfinished);
    void write_to_file(const Lock& lock, TraceOutput::Lines lines, Text elements, Text tail);
    void put_back_saved(const Lock& lock);
    void lose_saved();
    void fail(int error);

    LineBuffer m_buffer;          // behind its limit there is room for the tail of the file, then to compress
    uint64_t m_nested_blocks = 0; // bit d: the state at depth d has an open <Nested>
    int m_depth = 0;
    bool m_line_end_is_slow = false;
    void (*m_watch)(void* object) = nullptr; // behind lines
    void* m_watching = nullptr;
    TimeText m_times;
    CompactLines m_compact; // if the trace is
    // From 1 on, as deep as states are; the memory behind is never touched.
    OpenState m_open[max_depth + 2];
    OpenState m_seen[max_depth + 2]; // as find_unfinished() saw them
    // By depth: the elements with the last state that ended there. As text not of the outermost ones.
    Extent m_ended_as[max_depth + 2] = {};

    TraceSettings m_settings;
    size_t m_capacity = 0;   // of the buffer, when no line is longer
    Extent m_handled = {};   // the part of the whole lines that has been written already
    bool m_has_tail = false; // the file ends with an unfinished line
    int64_t m_written_states = 0;
    int64_t m_dropped_states = 0;
    InfoWriter* m_info = nullptr;
    // Held while the file is used, the counts change, the buffer moves.
    pthread_mutex_t m_mutex = HDTRACE_MUTEX_INITIALIZER;
    const char* m_failed_with = nullptr;
    bool m_closed = false;
    int m_error = 0;
    TraceOutput m_file;
    // Where only the last part is kept.
    TextBuffer m_head;      // of each file
    size_t m_head_size = 0; // what is the same in all of them
    int64_t m_segment = 0;
    int64_t m_segment_begin = 0;      // its time
    int64_t m_empty_segment_size = 0; // of its head
};

} // namespace hdtrace
