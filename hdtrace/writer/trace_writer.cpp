#include "hdtrace/writer/trace_writer.h"

#include <errno.h>
#include <initializer_list>
#include <stdlib.h>
#include <unistd.h>

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
// The unfinished states and the footer. Next to its name a state has two times and constants.
constexpr size_t tail_room =
    nested_room + TraceWriter::max_depth * (TraceWriter::longest_name + 100) + sizeof footer + 1;

size_t capacity_for(size_t buffer_size)
{
    const size_t size = buffer_size < smallest_buffer  ? smallest_buffer
                        : buffer_size > largest_buffer ? largest_buffer
                                                       : buffer_size;
    return size + 2 * TraceWriter::element_room;
}

// How many <Nested> in whole elements are still open.
int count_open_blocks(const char* text, size_t size)
{
    const auto starts_with = [](const char* at, const char* end, const char* tag) {
        return static_cast<size_t>(end - at) >= strlen(tag) && memcmp(at, tag, strlen(tag)) == 0;
    };
    const char* const end = text + size;
    int blocks = 0;
    for (const char* at = text; at != end; ++at) {
        at = static_cast<const char*>(memchr(at, '<', static_cast<size_t>(end - at)));
        if (at == nullptr)
            break;
        blocks += starts_with(at, end, nested_begin) ? 1 : starts_with(at, end, nested_end) ? -1 : 0;
    }
    return blocks;
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
    m_cut_digits = 9 - settings.form.time_digits;
    m_line_end_is_slow = settings.force_flush;
    // Where there is no library for it, a trace that is larger is better than none.
    if (settings.form.compression != Compression::none)
        m_compressor.open(settings.form.compression);
    m_capacity = capacity_for(m_compressor.is_open() ? settings.buffer_size / 2 : settings.buffer_size);
    if (!choose_path(path) || !reallocate(m_capacity))
        return m_error = ENOMEM;

    TextBuffer head;
    head.text(declaration).text("<Program timeAdjustment='").number(base).text("' version='1'");
    if (*root_attributes != '\0')
        head.text(" ").string(root_attributes);
    head.text(">\n");
    if (head.bad())
        return m_error = ENOMEM;
    return m_error = open_file({head.data(), head.size()});
}

// A trace of the same name in another form would be an older one.
bool TraceWriter::choose_path(const char* path)
{
    const Compression chosen = m_compressor.is_open() ? m_settings.form.compression : Compression::none;
    for (const Compression form : {Compression::none, Compression::gzip, Compression::zstd}) {
        TextBuffer name;
        name.string(path).string(suffix_of(form));
        if (form == chosen)
            m_path = strdup(name.c_string());
        else
            unlink(name.c_string());
    }
    return m_path != nullptr && *m_path != '\0';
}

int TraceWriter::open_file(Text head)
{
    Text end = {footer, strlen(footer)};
    if (m_compressor.is_open()) {
        end = m_compressor.compress(m_compressed_footer, end);
        m_next_block.skip(head);
        head = m_compressor.compress(m_limit + tail_room, head);
    }
    const int error = m_file.open(m_path, end);
    return error != 0 ? error : m_file.write(head, Undisturbed());
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

void TraceWriter::give_up_states(int depth, int64_t now)
{
    while (m_depth > depth) {
        const OpenState state = m_open[m_depth];
        Element element(*this);
        element.text("<").name(state.name).times(state.begin, now).text(" unfinished='1'").end(state.name);
    }
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
    char* const end = put_relative_time(out, time);
    if (time >= m_base) {
        m_span = time - (time - m_base) % last_digits_end;
        m_span_length = static_cast<size_t>(end - last_digits - out);
        memcpy(m_span_text, out, m_span_length);
    }
    return cut_digits(end);
}

char* TraceWriter::put_relative_time(char* out, int64_t time) const
{
    const int64_t positive = time >= m_base ? time - m_base : 0;
    out = put_text(put_number(out, positive / nanoseconds_per_second), ".");
    return put_nanoseconds(out, static_cast<uint32_t>(positive % nanoseconds_per_second));
}

void TraceWriter::end_line_slowly()
{
    if (m_out_of_memory)
        drop_line();
    else
        store(m_committed);
    const bool has_grown = static_cast<size_t>(m_limit - m_begin) > m_capacity;
    if (m_settings.force_flush || has_grown)
        flush();
    if (has_grown)
        reallocate(m_capacity); // or else the buffer stays large
    m_line_end_is_slow = m_settings.force_flush;
}

void TraceWriter::drop_line()
{
    const Extent kept = load(m_committed);
    const Lock lock(m_mutex);
    m_dropped_states += m_ended_states - kept.states;
    m_ended_states = kept.states;
    m_cursor = m_begin + kept.bytes;
    store(m_elements);
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
        const Lock lock(m_mutex);
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
    const size_t compressed_room =
        m_compressor.is_open() ? Compressor::bound(capacity) + Compressor::bound(tail_room) : 0;
    char* const fresh = capacity <= longest_line
                            ? static_cast<char*>(malloc(capacity + tail_room + compressed_room))
                            : nullptr;
    if (fresh == nullptr)
        return false;
    if (used > 0)
        memcpy(fresh, m_begin, used);
    char* const old = m_begin;
    {
        const Lock lock(m_mutex);
        m_begin = fresh;
        m_cursor = fresh + used;
        m_limit = fresh + capacity;
    }
    free(old);
    return true;
}

TraceWriter::Extent TraceWriter::load(const Extent& shared)
{
    Extent extent;
    __atomic_load(&shared, &extent, __ATOMIC_ACQUIRE);
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
    write(lock, find_unfinished());
    return m_error;
}

int TraceWriter::flush(const Lock& lock)
{
    const Extent done = load(m_committed);
    if (done != m_handled)
        write(lock, {done, done, 0, 0, {}});
    const size_t rest = static_cast<size_t>(m_cursor - m_begin) - done.bytes;
    if (done.bytes > 0 && rest > 0)
        memmove(m_begin, m_begin + done.bytes, rest);
    m_cursor = m_begin + rest;
    m_ended_states -= done.states;
    m_handled = {};
    // At the end of a line its elements are one byte less.
    const uint32_t elements = m_elements.bytes > done.bytes ? m_elements.bytes - done.bytes : 0;
    m_elements = {elements, m_elements.states - done.states};
    Extent none = {};
    __atomic_store(&m_committed, &none, __ATOMIC_RELEASE);
    return m_error;
}

// The thread that records may go on meanwhile. It cannot take anything back, since we have the lock, but what
// we see here and there must belong together.
TraceWriter::Unfinished TraceWriter::find_unfinished() const
{
    Unfinished found;
    int attempts = 100;
    while (!look_at_unfinished(found) && --attempts > 0) {
    }
    if (attempts == 0 || m_out_of_memory || !can_be_told(found)) {
        found.elements = found.whole_lines;
        found.depth = 0;
    }
    return found;
}

bool TraceWriter::look_at_unfinished(Unfinished& found) const
{
    found.whole_lines = load(m_committed);
    found.elements = load(m_elements);
    found.depth = __atomic_load_n(&m_depth, __ATOMIC_ACQUIRE);
    for (int depth = 1; depth <= found.depth; ++depth) {
        found.states[depth].name = __atomic_load_n(&m_open[depth].name, __ATOMIC_ACQUIRE);
        found.states[depth].begin = __atomic_load_n(&m_open[depth].begin, __ATOMIC_ACQUIRE);
    }
    return found.whole_lines == load(m_committed) && found.elements == load(m_elements) &&
           found.depth == __atomic_load_n(&m_depth, __ATOMIC_RELAXED);
}

bool TraceWriter::can_be_told(Unfinished& found) const
{
    if (found.elements.bytes < found.whole_lines.bytes)
        found.elements = found.whole_lines;
    const Text elements = elements_of(found);
    found.open_blocks = count_open_blocks(elements.data, elements.size);
    if (elements.size > 0 && found.open_blocks == 0)
        found.depth = 0; // only the end of the line is missing
    for (int depth = 1; depth <= found.depth; ++depth) {
        const char* const name = found.states[depth].name;
        if (name == nullptr || strlen(name) > longest_name)
            return false;
    }
    return found.open_blocks <= found.depth;
}

Text TraceWriter::elements_of(const Unfinished& unfinished) const
{
    return {m_begin + unfinished.whole_lines.bytes, unfinished.elements.bytes - unfinished.whole_lines.bytes};
}

// What comes behind the elements that have ended.
Text TraceWriter::put_tail(const Unfinished& unfinished) const
{
    char* out = m_limit;
    for (int depth = unfinished.open_blocks + 1; depth < unfinished.depth; ++depth)
        out = put_text(out, nested_begin);
    const int64_t now = Clock().now();
    for (int depth = unfinished.depth; depth > 0; --depth) {
        if (depth <= unfinished.open_blocks || depth < unfinished.depth)
            out = put_text(out, nested_end);
        const OpenState& state = unfinished.states[depth];
        const size_t length = strlen(state.name);
        out = put_text(out, "<");
        memcpy(out, state.name, length);
        out = cut_digits(put_relative_time(put_text(out + length, " time='"), state.begin));
        out = cut_digits(
            put_relative_time(put_text(out, "' end='"),
                              now > state.begin ? now : state.begin)); // the state's thread has its own clock
        out = put_text(out, "' unfinished='1' />");
    }
    out = put_text(put_text(out, "\n"), footer);
    return {m_limit, static_cast<size_t>(out - m_limit)};
}

// Writes the whole lines that are not in the file yet and, until there are more, the unfinished one.
void TraceWriter::write(const Lock& lock, const Unfinished& unfinished)
{
    const Extent whole = unfinished.whole_lines;
    const Text lines = {m_begin + m_handled.bytes, whole.bytes - m_handled.bytes};
    const Text elements = elements_of(unfinished);
    const bool has_tail = elements.size > 0 || unfinished.depth > 0;
    if (lines.size == 0 && !has_tail && !m_has_tail)
        return;
    // The objects must be described before calls name them.
    if (m_info != nullptr && m_error == 0)
        m_info->flush();
    if (m_error == 0 && !m_closed)
        fail(write_to_file(lines, elements, has_tail ? put_tail(unfinished) : Text{}, lock.undisturbed()));
    const bool lost = m_error != 0 || m_closed;
    // After close() unfinished states have been handled before they are whole.
    (lost ? m_dropped_states : m_written_states) += int64_t{whole.states} - m_handled.states;
    m_handled = whole;
    m_has_tail = has_tail;
}

int TraceWriter::write_to_file(Text lines, Text elements, Text tail, const Undisturbed& undisturbed)
{
    if (m_compressor.is_open())
        return write_compressed(lines, elements, tail, undisturbed);
    return tail.size > 0 ? m_file.write(lines, elements, tail, undisturbed)
                         : m_file.write(lines, undisturbed);
}

int TraceWriter::write_compressed(Text lines, Text elements, Text tail, const Undisturbed& undisturbed)
{
    char* out = m_limit + tail_room;
    const auto compress = [&](Text text) {
        const Text compressed = text.size > 0 ? m_compressor.compress(out, text) : text;
        out += compressed.size;
        return compressed;
    };
    Text block = {};
    if (lines.size > 0) {
        block = m_compressor.compress_block(out, lines, m_next_block.head_of(lines));
        if (block.size == 0)
            return EIO;
        out += block.size;
    }
    const Text rest = compress(elements), end = compress(tail);
    const int error =
        end.size > 0 ? m_file.write(block, rest, end, undisturbed) : m_file.write(block, undisturbed);
    if (error == 0)
        m_next_block.skip(lines);
    return error;
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
    if (!m_closed) {
        const Unfinished unfinished = find_unfinished();
        write(lock, unfinished);
        const int error = m_file.close();
        if (m_error == 0)
            fail(error);
        const uint32_t all = unfinished.elements.states + static_cast<uint32_t>(unfinished.depth);
        (m_error == 0 ? m_written_states : m_dropped_states) += all - m_handled.states;
        m_handled.states = all;
    }
    m_closed = true;
    return m_error;
}

void Element::end_children(const char* element_name)
{
    room(child_room);
    text("</").raw(element_name, strlen(element_name)).text(">");
}

} // namespace hdtrace
