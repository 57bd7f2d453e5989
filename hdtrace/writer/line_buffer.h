// What a thread has recorded and what is not in the file yet.
#pragma once

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace hdtrace {

/// Memory in which one thread adds elements behind each other, and ends a line behind the outermost one.
///
/// Other threads and signal handlers may ask for whole_lines() and whole_elements(), and read their text
/// while they hold the mutex: everything that moves or removes text needs it.
class LineBuffer {
  public:
    /// A part of the text from its beginning on. One word, so that whoever asks for it sees both or none.
    struct alignas(8) Extent {
        uint32_t bytes;
        uint32_t states; ///< that have ended in it
        bool operator==(const Extent&) const = default;
    };

    LineBuffer() = default;
    LineBuffer(const LineBuffer&) = delete;
    LineBuffer& operator=(const LineBuffer&) = delete;
    ~LineBuffer() { own_free(m_begin); }

    // ---- for the thread that records ----

    /// Moves the text to memory of @p capacity bytes, and @p behind more at its limit(). False if memory is
    /// short, and then all is as before.
    bool reallocate(size_t capacity, size_t behind, pthread_mutex_t& mutex);
    size_t capacity() const { return static_cast<size_t>(m_limit - m_begin); }
    size_t room() const { return room_behind(m_cursor); }
    size_t room_behind(const char* cursor) const { return static_cast<size_t>(m_limit - cursor); }

    /// Where the next element goes, and how far it has come when there must be more room().
    char* cursor() const { return m_cursor; }
    void set_cursor(char* cursor) { m_cursor = cursor; }
    /// The element that ends next is a state.
    void count_state() { ++m_ended_states; }
    /// @p elements: elements_until(cursor).
    void end_element(char* cursor, Extent elements)
    {
        m_cursor = cursor;
        __atomic_store(&m_elements, &elements, __ATOMIC_RELEASE);
    }
    void end_line()
    {
        *m_cursor++ = '\n';
        end_compact_line(elements_until(m_cursor));
    }
    /// The same in a compact trace, where the outermost element has ended the line. @p lines: the elements
    /// until there.
    void end_compact_line(Extent lines) { __atomic_store(&m_lines, &lines, __ATOMIC_RELEASE); }
    /// What whole_elements() will be once an element has ended.
    Extent elements_until(const char* cursor) const
    {
        return {static_cast<uint32_t>(cursor - m_begin), m_ended_states};
    }

    bool has_whole_lines_only() const { return m_cursor == m_begin + m_lines.bytes; }

    /// There is no memory for the line: it is built over and over at the same place, until it is removed.
    void lose_line(const Lock& lock);
    /// Returns how many states it had.
    uint32_t remove_lost_line(const Lock& lock);
    /// What follows moves to the beginning.
    void remove_whole_lines(const Lock& lock);

    // ---- for all who hold the mutex ----

    Extent whole_lines() const { return load(m_lines); }
    /// The lines included. At the end of a line of text they may be one byte less.
    Extent whole_elements() const { return load(m_elements); }
    bool is_line_lost() const { return m_is_line_lost; }
    const char* text() const { return m_begin; }
    /// The memory behind the text.
    char* limit() const { return m_limit; }

  private:
    static Extent load(const Extent& shared)
    {
        Extent extent;
        __atomic_load(&shared, &extent, __ATOMIC_ACQUIRE);
        return extent;
    }

    char* m_cursor = nullptr;
    char* m_limit = nullptr;
    char* m_begin = nullptr;
    Extent m_lines = {};
    Extent m_elements = {};
    uint32_t m_ended_states = 0;
    bool m_is_line_lost = false;
};

} // namespace hdtrace
