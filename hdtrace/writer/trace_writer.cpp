#include "hdtrace/writer/trace_writer.h"

#include <errno.h>
#include <stdlib.h>

namespace hdtrace {

namespace {

constexpr char declaration[] = "<?xml version='1.0' encoding='UTF-8'?>\n";
constexpr char footer[] = "</Program>\n";
constexpr char nested_begin[] = "<Nested>";
constexpr char nested_end[] = "</Nested>";
// Also when memory is short, an element without long texts must fit.
constexpr size_t smallest_buffer = 32 * 1024;
constexpr size_t largest_buffer = 1024 * 1024 * 1024;
constexpr size_t longest_line = 0xffff'ffff;
constexpr size_t nested_room = TraceWriter::max_depth * (sizeof nested_begin + sizeof nested_end);

size_t capacity_for(size_t buffer_size)
{
    const size_t size = buffer_size < smallest_buffer  ? smallest_buffer
                        : buffer_size > largest_buffer ? largest_buffer
                                                       : buffer_size;
    return size + 2 * TraceWriter::element_room;
}

} // namespace

TraceWriter::~TraceWriter()
{
    close();
    free(m_begin);
    free(m_path);
}

int TraceWriter::open(const char* path, const char* root_attributes, int64_t base,
                      const TraceSettings& settings, InfoWriter* info)
{
    m_settings = settings;
    m_info = info;
    m_base = base * nanoseconds_per_second;
    m_path = strdup(path);
    m_capacity = capacity_for(settings.buffer_size);
    m_line_end_is_slow = settings.force_flush;
    if (m_path == nullptr || !reallocate(m_capacity))
        return m_error = ENOMEM;

    TextBuffer head;
    head.text(declaration).text("<Program timeAdjustment='").number(base).text("' version='1'");
    if (*root_attributes != '\0')
        head.text(" ").string(root_attributes);
    head.text(">\n");
    if (head.bad())
        return m_error = ENOMEM;
    m_error = m_file.open(path, footer);
    if (m_error == 0)
        m_error = m_file.write(head.data(), head.size(), Undisturbed());
    return m_error;
}

char* TraceWriter::begin_element_slowly()
{
    if (static_cast<size_t>(m_limit - m_cursor) < element_room + nested_room)
        m_cursor = make_room(m_cursor, element_room + nested_room);
    m_cursor = open_nested_blocks(m_cursor);
    if (m_nested_blocks & (1ull << m_depth)) {
        m_nested_blocks &= ~(1ull << m_depth);
        m_cursor = put_text(m_cursor, nested_end);
    }
    return m_cursor;
}

// The states around the one that ends now must have begun their <Nested>, the outermost first.
char* TraceWriter::open_nested_blocks(char* cursor)
{
    for (int depth = 1; depth < m_depth; ++depth) {
        if (m_nested_blocks & (1ull << depth))
            continue;
        m_nested_blocks |= 1ull << depth;
        cursor = put_text(cursor, nested_begin);
    }
    return cursor;
}

char* TraceWriter::put_time_slowly(char* out, int64_t time)
{
    const int64_t relative = time - m_base;
    const int64_t second = relative >= 0 ? relative / nanoseconds_per_second : 0;
    char* const end = put_text(put_number(m_second_text, second), ".");
    m_second_length = static_cast<size_t>(end - m_second_text);
    m_second = m_base + second * nanoseconds_per_second;
    memcpy(out, m_second_text, m_second_length);
    return put_nanoseconds(out + m_second_length, relative >= 0 ? static_cast<uint32_t>(time - m_second) : 0);
}

void TraceWriter::end_line_slowly()
{
    if (m_out_of_memory)
        drop_line();
    else
        commit();
    const bool has_grown = static_cast<size_t>(m_limit - m_begin) > m_capacity;
    if (m_settings.force_flush || has_grown)
        flush();
    if (has_grown)
        reallocate(m_capacity); // or else the buffer stays large
    m_line_end_is_slow = m_settings.force_flush;
}

void TraceWriter::drop_line()
{
    const Extent kept = committed();
    const Lock lock(m_mutex);
    m_dropped_states += m_ended_states - kept.states;
    m_ended_states = kept.states;
    m_cursor = m_begin + kept.bytes;
    m_out_of_memory = false;
}

// Returns the cursor with `size` bytes behind it: by writing the whole lines, and by growing if one line is
// too long.
char* TraceWriter::make_room(char* cursor, size_t size)
{
    m_cursor = cursor;
    flush();
    if (static_cast<size_t>(m_limit - m_cursor) >= size)
        return m_cursor;
    m_line_end_is_slow = true;
    if (!reallocate(2 * (static_cast<size_t>(m_cursor - m_begin) + size))) {
        // The line cannot be kept. It is still built, over and over at the same place, and dropped when it
        // ends.
        m_out_of_memory = true;
        m_cursor = m_begin;
    }
    return m_cursor;
}

// Memory is asked for and given back outside the lock: a heap that the program has destroyed may end in its
// signal handler.
bool TraceWriter::reallocate(size_t capacity)
{
    const size_t used = static_cast<size_t>(m_cursor - m_begin);
    char* const fresh = capacity <= longest_line ? static_cast<char*>(malloc(capacity)) : nullptr;
    if (fresh == nullptr)
        return false;
    if (used > 0)
        memcpy(fresh, m_begin, used);
    char* const old = m_begin;
    {
        const Lock lock(m_mutex);
        m_begin = fresh;
    }
    free(old);
    m_cursor = fresh + used;
    m_limit = fresh + capacity;
    return true;
}

TraceWriter::Extent TraceWriter::committed() const
{
    Extent extent;
    __atomic_load(&m_committed, &extent, __ATOMIC_ACQUIRE);
    return extent;
}

int TraceWriter::flush()
{
    const Lock lock(m_mutex);
    return lock.held() ? flush(lock) : EDEADLK;
}

int TraceWriter::save()
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    write_committed(lock);
    return m_error;
}

int TraceWriter::flush(const Lock& lock)
{
    write_committed(lock);
    const Extent done = committed();
    const size_t rest = static_cast<size_t>(m_cursor - m_begin) - done.bytes;
    if (done.bytes > 0 && rest > 0)
        memmove(m_begin, m_begin + done.bytes, rest);
    m_cursor = m_begin + rest;
    m_ended_states -= done.states;
    m_handled = {};
    const Extent none = {};
    __atomic_store(&m_committed, &none, __ATOMIC_RELEASE);
    return m_error;
}

void TraceWriter::write_committed(const Lock& lock)
{
    const Extent whole = committed();
    if (whole.bytes == m_handled.bytes)
        return;
    // The objects must be described before calls name them.
    if (m_info != nullptr && m_error == 0)
        m_info->flush();
    if (m_error == 0 && !m_closed)
        fail(m_file.write(m_begin + m_handled.bytes, whole.bytes - m_handled.bytes, lock.undisturbed()));
    const bool lost = m_error != 0 || m_closed;
    (lost ? m_dropped_states : m_written_states) += whole.states - m_handled.states;
    m_handled = whole;
}

void TraceWriter::fail(int error)
{
    if (error == 0)
        return;
    m_error = error;
    if (m_settings.on_error != nullptr)
        m_settings.on_error(m_path, error);
}

int TraceWriter::close()
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    if (!m_closed && m_file.is_open()) {
        write_committed(lock);
        const int error = m_file.close();
        if (m_error == 0)
            fail(error);
    }
    m_closed = true;
    return m_error;
}

} // namespace hdtrace
