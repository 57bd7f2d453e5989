#include "hdtrace/writer/trace_writer.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

namespace hdtrace {

namespace {

constexpr char declaration[] = "<?xml version='1.0' encoding='UTF-8'?>\n";
constexpr char footer[] = "</Program>\n";
constexpr char nested_begin[] = "<Nested>";
constexpr char nested_end[] = "</Nested>";
// Also when memory is short, an element without long texts must fit.
constexpr size_t smallest_buffer = 32 * 1024;
constexpr size_t nested_room = TraceWriter::max_depth * (sizeof nested_begin + sizeof nested_end);

} // namespace

TraceWriter::~TraceWriter()
{
    close();
    free(m_begin);
    free(m_path);
}

int TraceWriter::open(const char* path, const char* root_attributes, int64_t base, const TraceSettings& settings,
                      InfoWriter* info)
{
    m_settings = settings;
    m_info = info;
    m_base = base * nanoseconds_per_second;
    m_path = strdup(path);
    const size_t capacity = (settings.buffer_size > smallest_buffer ? settings.buffer_size : smallest_buffer) + 2 * element_room;
    m_begin = static_cast<char*>(malloc(capacity));
    if (m_path == nullptr || m_begin == nullptr)
        return m_error = ENOMEM;
    m_cursor = m_committed = m_begin;
    m_limit = m_begin + capacity;

    TextBuffer head;
    head.text(declaration).text("<Program timeAdjustment='").number(base).text("' version='1'");
    if (*root_attributes != '\0')
        head.text(" ").string(root_attributes);
    head.text(">\n");
    if (head.bad())
        return m_error = ENOMEM;
    m_error = m_file.open(path);
    if (m_error == 0)
        m_error = m_file.write(head.data(), head.size());
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
    if (m_out_of_memory) {
        m_out_of_memory = false;
        ++m_dropped_states;
    }
    flush();
}

// Returns the cursor with `size` bytes behind it: by writing the whole lines, and by growing if one line is too long.
char* TraceWriter::make_room(char* cursor, size_t size)
{
    m_cursor = cursor;
    flush();
    if (static_cast<size_t>(m_limit - m_cursor) < size && !grow(size)) {
        // The line cannot be kept. It is still built, over and over at the same place, and dropped when it ends.
        m_out_of_memory = true;
        m_cursor = m_committed;
    }
    return m_cursor;
}

bool TraceWriter::grow(size_t size)
{
    const size_t used = static_cast<size_t>(m_cursor - m_begin);
    const size_t capacity = 2 * (used + size);
    lock_file();
    char* grown = static_cast<char*>(realloc(m_begin, capacity));
    if (grown != nullptr) {
        m_committed = grown + (m_committed - m_begin);
        m_begin = grown;
        m_cursor = grown + used;
        m_limit = grown + capacity;
    }
    unlock_file();
    return grown != nullptr;
}

int TraceWriter::flush()
{
    lock_file();
    write_committed();
    const size_t tail = static_cast<size_t>(m_cursor - m_committed);
    memmove(m_begin, m_committed, tail);
    m_cursor = m_begin + tail;
    __atomic_store_n(&m_committed, m_begin, __ATOMIC_RELEASE);
    unlock_file();
    return m_error;
}

void TraceWriter::write_committed()
{
    char* const committed = __atomic_load_n(&m_committed, __ATOMIC_ACQUIRE);
    if (committed == m_begin)
        return;
    // The objects must be described before calls name them.
    if (m_info != nullptr && m_error == 0)
        m_info->flush();
    if (m_error == 0 && !m_closed)
        fail(m_file.write(m_begin, static_cast<size_t>(committed - m_begin)));
    const int64_t states = __atomic_load_n(&m_states, __ATOMIC_RELAXED);
    if (m_error != 0 || m_closed)
        m_dropped_states += states - m_states_written;
    m_states_written = states;
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
    lock_file();
    if (!m_closed && m_file.is_open()) {
        write_committed();
        if (m_error == 0)
            fail(m_file.write(footer, sizeof footer - 1));
        const int error = m_file.close();
        if (m_error == 0)
            fail(error);
    }
    m_closed = true;
    unlock_file();
    return m_error;
}

void TraceWriter::lock_file()
{
    while (__atomic_test_and_set(&m_file_lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

void TraceWriter::unlock_file()
{
    __atomic_clear(&m_file_lock, __ATOMIC_RELEASE);
}

} // namespace hdtrace
