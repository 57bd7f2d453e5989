#include "hdtrace/writer/line_buffer.h"

#include "hdtrace/writer/own_memory.h"

#include <string.h>

namespace hdtrace {

namespace {

constexpr size_t longest_line = 0xffff'ffff;

} // namespace

// Memory is asked for and given back outside the lock: a heap that the program has destroyed may end in its
// signal handler.
bool LineBuffer::reallocate(size_t capacity, size_t behind, pthread_mutex_t& mutex)
{
    const size_t used = static_cast<size_t>(m_cursor - m_begin);
    char* const fresh =
        capacity <= longest_line ? static_cast<char*>(own_malloc(capacity + behind)) : nullptr;
    if (fresh == nullptr)
        return false;
    if (used > 0)
        memcpy(fresh, m_begin, used);
    char* const old = m_begin;
    {
        const Lock lock(mutex);
        m_begin = fresh;
        m_cursor = fresh + used;
        m_limit = fresh + capacity;
    }
    own_free(old);
    return true;
}

void LineBuffer::lose_line(const Lock&)
{
    m_is_line_lost = true;
    m_cursor = m_begin;
}

uint32_t LineBuffer::remove_lost_line(const Lock&)
{
    const Extent kept = whole_lines();
    const uint32_t lost = m_ended_states - kept.states;
    m_ended_states = kept.states;
    end_element(m_begin + kept.bytes, kept);
    m_is_line_lost = false;
    return lost;
}

void LineBuffer::remove_whole_lines(const Lock&)
{
    const Extent lines = whole_lines();
    const size_t rest = static_cast<size_t>(m_cursor - m_begin) - lines.bytes;
    if (lines.bytes > 0 && rest > 0)
        memmove(m_begin, m_begin + lines.bytes, rest);
    m_cursor = m_begin + rest;
    m_ended_states -= lines.states;
    // At the end of a line its elements are one byte less.
    const uint32_t elements = m_elements.bytes > lines.bytes ? m_elements.bytes - lines.bytes : 0;
    m_elements = {elements, m_elements.states - lines.states};
    Extent none = {};
    __atomic_store(&m_lines, &none, __ATOMIC_RELEASE);
}

} // namespace hdtrace
