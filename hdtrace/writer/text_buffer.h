// A text that grows, for lines that are too long or too rare for the fast path.
#pragma once

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text.h"

#include <stdlib.h>

namespace hdtrace {

/// When memory is short the text becomes bad() and stays as it was, until clear(). Not thread-safe.
class TextBuffer {
  public:
    TextBuffer() = default;
    TextBuffer(const TextBuffer&) = delete;
    TextBuffer& operator=(const TextBuffer&) = delete;
    ~TextBuffer() { own_free(m_data); }

    template <size_t Size> TextBuffer& text(const char (&literal)[Size]) { return bytes(literal, Size - 1); }
    TextBuffer& bytes(const char* data, size_t size)
    {
        if (room(size)) {
            memcpy(m_data + m_size, data, size);
            m_size += size;
        }
        return *this;
    }
    TextBuffer& string(const char* data) { return bytes(data, strlen(data)); }
    TextBuffer& number(int64_t value)
    {
        if (room(max_number_length))
            m_size = static_cast<size_t>(put_number(m_data + m_size, value) - m_data);
        return *this;
    }
    TextBuffer& xml_escaped(const char* data)
    {
        const size_t length = strlen(data);
        if (room(length * max_escape_length))
            m_size = static_cast<size_t>(put_xml_escaped(m_data + m_size, data, length) - m_data);
        return *this;
    }
    TextBuffer& info_escaped(const char* data) { return info_escaped(data, strlen(data)); }
    TextBuffer& info_escaped(const char* data, size_t length)
    {
        if (room(length * max_escape_length))
            m_size = static_cast<size_t>(put_info_escaped(m_data + m_size, data, length) - m_data);
        return *this;
    }
    /// Seconds with nine digits behind the point; not negative.
    TextBuffer& seconds(int64_t nanoseconds)
    {
        if (room(max_number_length + 10))
            m_size = static_cast<size_t>(put_seconds(m_data + m_size, nanoseconds) - m_data);
        return *this;
    }

    /// Never null.
    const char* data() const { return m_data != nullptr ? m_data : ""; }
    size_t size() const { return m_size; }
    bool bad() const { return m_bad; }
    void clear() { truncate(0); }
    /// Back to an earlier size().
    void truncate(size_t size)
    {
        m_size = size;
        m_bad = false;
    }
    /// Memory behind the text for @p size bytes and a NUL, null if memory is short. What is written there
    /// belongs to the text after added().
    char* space(size_t size) { return room(size) ? m_data + m_size : nullptr; }
    void added(size_t size) { m_size += size; }
    /// The text with a final NUL, or "" if memory is short. Owned by the buffer.
    const char* c_string()
    {
        if (!room(0))
            return "";
        m_data[m_size] = '\0';
        return m_data;
    }

  private:
    // One byte more than asked for: so there is always memory, and a place for the final NUL.
    bool room(size_t size)
    {
        if (m_capacity - m_size > size)
            return true;
        const size_t capacity = 2 * (m_size + size) + 128;
        char* grown = static_cast<char*>(own_realloc(m_data, capacity));
        if (grown == nullptr) {
            m_bad = true;
            return false;
        }
        m_data = grown;
        m_capacity = capacity;
        return true;
    }

    char* m_data = nullptr;
    size_t m_size = 0;
    size_t m_capacity = 0;
    bool m_bad = false;
};

} // namespace hdtrace
