#include "hdtrace/writer/trace_writer.h"

#include "hdtrace/segments.h"
#include "hdtrace/writer/element.h"
#include "hdtrace/writer/sanitizers.h"

#include <errno.h>
#include <initializer_list>

namespace hdtrace {

namespace {

constexpr char declaration[] = "<?xml version='1.0' encoding='UTF-8'?>\n";
constexpr char footer[] = "</Program>\n";
constexpr char nested_begin[] = "<Nested>";
constexpr char nested_end[] = "</Nested>";
// Also when memory is short, an element without long texts must fit.
constexpr size_t smallest_buffer = 32 * 1024;
static_assert(TraceWriter::max_depth <= most_compact_depth);
constexpr size_t segment_head_room = 100;
constexpr size_t largest_buffer = 1024 * 1024 * 1024;
constexpr size_t nested_room = TraceWriter::max_depth * (sizeof nested_begin + sizeof nested_end);
// The unfinished states and the footer. Next to its arguments a state has its name, twice if there are child
// elements, two times and constants.
constexpr size_t arguments_room = 16 * 1024;
constexpr size_t error_room = sizeof " rc=''" + TraceWriter::longest_name;
// In a compact trace, before each of them.
constexpr size_t record_room = 2 * most_compact_number + CompactLines::room_for_text_head;
constexpr size_t tail_room = arguments_room + nested_room +
                             TraceWriter::max_depth * (2 * TraceWriter::longest_name + record_room + 100) +
                             error_room + sizeof footer + 1;
// What a second form takes, and what is not written at once in a compact trace: a record is about a tenth of
// its text, and no more calls should be lost where a program is killed.
constexpr size_t compressed_share = 2, compact_share = 4;

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

int TraceWriter::open(const char* path, const char* root_attributes, int64_t base,
                      const TraceSettings& settings, InfoWriter* info)
{
    m_settings = settings;
    m_info = info;
    m_times.open(base, settings.form.time_digits);
    m_line_end_is_slow = settings.force_flush;
    if (const int error = m_file.choose(path, settings.form.compression))
        return m_error = error;
    if (m_file.is_compact() && !m_compact.open(base * nanoseconds_per_second, settings.form.time_digits))
        return m_error = ENOMEM;
    m_capacity = capacity_for(settings.buffer_size);
    if (!reallocate(m_capacity))
        return m_error = ENOMEM;
    return m_error = write_head(root_attributes, base);
}

size_t TraceWriter::capacity_for(size_t buffer_size) const
{
    const size_t share = is_compact() ? compact_share : m_file.is_compressed() ? compressed_share : 1;
    const size_t wanted = buffer_size / share;
    const size_t size = wanted < smallest_buffer  ? smallest_buffer
                        : wanted > largest_buffer ? largest_buffer
                                                  : wanted;
    return size + (is_compact() ? compact_line_room : 2 * element_room);
}

int TraceWriter::write_head(const char* root_attributes, int64_t base)
{
    m_head.text(declaration).text("<Program timeAdjustment='").number(base).text("' version='1'");
    if (*root_attributes != '\0')
        m_head.text(" ").string(root_attributes);
    m_head_size = m_head.size();
    m_head.space(segment_head_room); // so that no later one asks for memory
    return open_segment();
}

int TraceWriter::open_segment()
{
    m_head.truncate(m_head_size);
    if (has_segments(m_settings)) {
        m_head.text(" segment='")
            .number(m_segment)
            .text("' before='")
            .number(states_before_segment())
            .text("'");
        m_segment_begin = Clock().now();
    }
    m_head.text(">\n");
    if (m_head.bad())
        return ENOMEM;
    const int error = m_file.open(static_cast<int>(m_segment % segment_count), {m_head.data(), m_head.size()},
                                  {footer, strlen(footer)}, room_to_compress());
    m_empty_segment_size = m_file.size();
    return error;
}

// Whether no more bytes may come to it.
bool TraceWriter::is_segment_full(int64_t bytes) const
{
    if (m_error != 0 || m_closed || m_file.size() == m_empty_segment_size)
        return false;
    const int64_t* const size = m_settings.segment_size;
    if (size != nullptr)
        return m_file.size() + bytes > __atomic_load_n(size, __ATOMIC_RELAXED);
    return Clock().now() - m_segment_begin >= m_settings.segment_time;
}

// Only for the thread that records: opening a file is not for signal handlers.
void TraceWriter::begin_segment(const Lock& lock)
{
    if (m_has_tail || (is_compact() && m_handled.bytes > 0)) // it comes as whole lines now
        fail(m_file.write({}, {}, {}, room_to_compress(), lock.undisturbed()));
    m_has_tail = false;
    if (m_error != 0)
        return;
    fail(m_file.close());
    ++m_segment;
    if (m_segment >= segment_count && m_settings.on_overwritten != nullptr)
        m_settings.on_overwritten();
    if (m_error == 0)
        fail(open_segment());
    if (m_error != 0 && is_compact())
        lose_saved();
}

// What was saved of a compact trace comes into the next segment with the lines that follow.
int64_t TraceWriter::states_before_segment() const
{
    return is_compact() ? states() - int64_t{m_handled.states} : states();
}

char* TraceWriter::begin_element_slowly()
{
    char* cursor = m_buffer.cursor();
    if (m_buffer.room() < element_room + nested_room)
        cursor = make_room(cursor, element_room + nested_room);
    for (int opened = open_nested_blocks(); opened > 0; --opened)
        cursor = put_text(cursor, nested_begin);
    if (close_nested_block())
        cursor = put_text(cursor, nested_end);
    return cursor;
}

// Reading makes the tags.
char* TraceWriter::begin_compact_element_slowly()
{
    char* cursor = m_buffer.cursor();
    if (m_buffer.room() < (m_buffer.has_whole_lines_only() ? compact_line_room : element_room))
        cursor = make_room(cursor, element_room);
    const int opened = open_nested_blocks();
    const bool is_closed = close_nested_block();
    if (opened == 0 && !is_closed)
        return cursor;
    return m_compact.put_depth(cursor, m_depth,
                               static_cast<size_t>(opened) * strlen(nested_begin) +
                                   (is_closed ? strlen(nested_end) : 0));
}

// The site that is looked up for the inner state may take the place of the outer one's.
OpenState& TraceWriter::next_inner_state()
{
    m_open[m_depth].keep_site();
    for (const int depth : {m_depth, m_depth + 1}) { // which have not ended
        Extent none = {};
        __atomic_store(&m_ended_as[depth], &none, __ATOMIC_RELEASE);
    }
    return m_open[m_depth + 1];
}

void TraceWriter::give_up_states(int depth, int64_t now)
{
    while (m_depth > depth) {
        const OpenState& state = m_open[m_depth];
        const char* const name = state.form()->name;
        write_element(*this, [&](auto& element) {
            element.text("<").name(name).arguments_left(state).times(state.begin(), now);
            element.text(" unfinished='1'").end(name);
        });
    }
}

// It may have been left at any place: of the values of a compact trace some may be those of the event. Events
// have no form.
void TraceWriter::lose_event()
{
    const bool is_left = m_depth > 0 && m_open[m_depth].form() == nullptr;
    if (is_left)
        leave_state();
    if (m_depth > 0) {
        if (is_left)
            lose_line();
        return;
    }
    const Lock lock(m_mutex);
    m_dropped_states += m_buffer.remove_lost_line(lock);
    if (is_compact())
        write_whole_lines(lock);
}

// The states around the one that ends now must have begun their <Nested>, the outermost first. Returns how
// many begin now.
int TraceWriter::open_nested_blocks()
{
    const uint64_t around = (1ull << m_depth) - 2;
    const int opened = __builtin_popcountll(around & ~m_nested_blocks);
    m_nested_blocks |= around;
    return opened;
}

// Of the one that ends now. False if it has none.
bool TraceWriter::close_nested_block()
{
    const uint64_t own = 1ull << m_depth;
    const bool is_open = (m_nested_blocks & own) != 0;
    m_nested_blocks &= ~own;
    return is_open;
}

void TraceWriter::end_line_slowly()
{
    if (m_buffer.is_line_lost())
        drop_line();
    else if (is_compact())
        m_buffer.end_compact_line(m_buffer.whole_elements());
    else
        m_buffer.end_line();
    const bool has_grown = m_buffer.capacity() > m_capacity;
    if (m_settings.force_flush || has_grown)
        flush();
    if (has_grown)
        reallocate(m_capacity); // or else the buffer stays large
    m_line_end_is_slow = m_settings.force_flush || m_watch != nullptr;
    if (m_watch != nullptr)
        m_watch(m_watching);
}

void TraceWriter::drop_line()
{
    const Lock lock(m_mutex);
    m_dropped_states += m_buffer.remove_lost_line(lock);
    m_compact.begin_unit(); // nothing is in the buffer
}

// Returns the cursor with `size` bytes behind it: by what is to be done with a full buffer, and by growing if
// one line is too long.
char* TraceWriter::make_room(char* cursor, size_t size)
{
    m_buffer.set_cursor(cursor);
    make_room_in_full_buffer();
    if (m_buffer.room() >= size)
        return m_buffer.cursor();
    m_line_end_is_slow = true;
    const size_t used = m_buffer.capacity() - m_buffer.room();
    if (!reallocate(2 * (used + size))) {
        if (is_compact())
            return lose_line();
        const Lock lock(m_mutex);
        m_buffer.lose_line(lock);
    }
    return m_buffer.cursor();
}

// The whole lines before it must be out of the way, and what comes in a compact trace can be read without
// them.
char* TraceWriter::lose_line()
{
    m_line_end_is_slow = true;
    const Lock lock(m_mutex);
    if (!m_buffer.is_line_lost())
        write_whole_lines(lock);
    m_buffer.lose_line(lock);
    return m_buffer.cursor();
}

void TraceWriter::make_room_in_full_buffer()
{
    switch (m_settings.when_full) {
    case WhenFull::write_out:
        flush();
        break;
    }
}

bool TraceWriter::reallocate(size_t capacity)
{
    return m_buffer.reallocate(capacity, tail_room + m_file.room_for(capacity) + m_file.room_for(tail_room),
                               m_mutex);
}

char* TraceWriter::room_to_compress() const
{
    return m_buffer.limit() + tail_room;
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
    const ReadsAreNoRaces of_what_was_recorded;
    write(lock, find_unfinished());
    return m_error;
}

// In a compact trace what there is of the next line stands in the buffer as differences to the whole ones.
int TraceWriter::flush(const Lock& lock)
{
    if (!is_compact() || m_buffer.has_whole_lines_only())
        write_whole_lines(lock);
    else
        write(lock, {m_buffer.whole_lines(), m_buffer.whole_lines(), 0});
    return m_error;
}

void TraceWriter::write_whole_lines(const Lock& lock)
{
    const Extent lines = m_buffer.whole_lines();
    if (is_compact() ? lines.bytes > 0 : lines != m_handled) {
        if (has_segments(m_settings) && is_segment_full(int64_t{lines.bytes} - m_handled.bytes))
            begin_segment(lock);
        Unfinished none = {lines, lines, 0};
        none.is_final = true;
        write(lock, none);
    }
    m_buffer.remove_whole_lines(lock);
    m_handled = {};
    m_compact.begin_unit();
}

// The thread that records may go on meanwhile. It cannot take anything back, since we have the lock, but what
// we see here and there must belong together.
TraceWriter::Unfinished TraceWriter::find_unfinished()
{
    constexpr int most_attempts = 100;
    Unfinished found = look_at_unfinished();
    for (int attempt = 1; attempt < most_attempts && !is_still(found); ++attempt)
        found = look_at_unfinished();
    if (!is_still(found) || m_buffer.is_line_lost() || !can_be_told(found)) {
        found.elements = found.whole_lines;
        found.depth = 0;
    }
    return found;
}

TraceWriter::Unfinished TraceWriter::look_at_unfinished()
{
    Unfinished found = {m_buffer.whole_lines(), m_buffer.whole_elements(),
                        __atomic_load_n(&m_depth, __ATOMIC_ACQUIRE)};
    __atomic_load(&m_ended_as[found.depth], &found.ended_as, __ATOMIC_ACQUIRE);
    for (int depth = 1; depth <= found.depth; ++depth)
        m_seen[depth].copy_from(m_open[depth]);
    return found;
}

// A state that was abandoned leaves nothing in the buffer: the next one there began at another time. What
// was seen was loaded with acquire, and the kernel, which copies the program's memory, keeps order: so all
// of that came before what is loaded here.
bool TraceWriter::is_still(const Unfinished& seen) const
{
    const int depth = seen.seen_depth;
    return seen.whole_lines == m_buffer.whole_lines() && seen.seen_elements == m_buffer.whole_elements() &&
           depth == __atomic_load_n(&m_depth, __ATOMIC_ACQUIRE) &&
           (depth == 0 || m_open[depth].is_same(m_seen[depth]));
}

bool TraceWriter::can_be_told(Unfinished& found) const
{
    if (found.elements.bytes < found.whole_lines.bytes)
        found.elements = found.whole_lines;
    const Text elements = elements_of(found);
    if (!is_compact())
        found.open_blocks = count_open_blocks(elements.data, elements.size);
    if (elements.size > 0 && has_ended(found))
        --found.depth;
    for (int depth = 1; depth <= found.depth; ++depth) {
        const StateForm* const form = m_seen[depth].form();
        if (form == nullptr || strlen(form->name) > longest_name)
            return false;
    }
    return found.open_blocks <= found.depth;
}

// The innermost state is among the elements already, and about to be left.
bool TraceWriter::has_ended(const Unfinished& found) const
{
    if (!is_compact() && found.open_blocks == 0)
        return found.depth == 1;
    return found.depth > 0 && found.ended_as == found.seen_elements;
}

Text TraceWriter::elements_of(const Unfinished& unfinished) const
{
    return {m_buffer.text() + unfinished.whole_lines.bytes,
            size_t{unfinished.elements.bytes} - unfinished.whole_lines.bytes};
}

// What comes behind the elements that have ended. What a state has in the program's memory is only there
// until it ends.
Text TraceWriter::put_tail(const Unfinished& unfinished) const
{
    const Text tail = put_tail(unfinished, false);
    return is_still(unfinished) ? tail : put_tail(unfinished, true);
}

Text TraceWriter::put_tail(const Unfinished& unfinished, bool was_left) const
{
    if (is_compact())
        return put_compact_tail(unfinished, was_left);
    char* out = m_buffer.limit();
    for (int depth = unfinished.open_blocks + 1; depth < unfinished.depth; ++depth)
        out = put_text(out, nested_begin);
    const int64_t now = Clock().now();
    for (int depth = unfinished.depth; depth > 0; --depth) {
        if (depth <= unfinished.open_blocks || depth < unfinished.depth)
            out = put_text(out, nested_end);
        out = put_unfinished(out, depth, unfinished.depth, now, was_left);
    }
    out = put_text(put_text(out, "\n"), footer);
    return {m_buffer.limit(), static_cast<size_t>(out - m_buffer.limit())};
}

// Records with the same text. Reading finds out what tags are missing.
Text TraceWriter::put_compact_tail(const Unfinished& unfinished, bool was_left) const
{
    char* out = m_buffer.limit();
    const int64_t now = Clock().now();
    for (int depth = unfinished.depth; depth > 0; --depth) {
        out = put_compact_number(put_compact_number(out, compact_code::depth), static_cast<uint64_t>(depth));
        char* const begin = CompactLines::begin_text(out);
        out = put_unfinished(begin, depth, unfinished.depth, now, was_left);
        if (depth == 1)
            out = put_text(out, "\n");
        out = CompactLines::end_text(begin, out);
    }
    char* const begin = CompactLines::begin_text(out);
    out = CompactLines::end_text(begin, put_text(begin, footer));
    return {m_buffer.limit(), static_cast<size_t>(out - m_buffer.limit())};
}

char* TraceWriter::put_unfinished(char* out, int depth, int deepest, int64_t now, bool was_left) const
{
    const OpenState& state = m_seen[depth];
    const char* const error = depth == deepest ? __atomic_load_n(&m_failed_with, __ATOMIC_ACQUIRE) : nullptr;
    const char* const limit = m_buffer.limit() + arguments_room;
    const char* const name = state.form()->name;
    out = state.put_attributes(put_constant(put_text(out, "<"), name), limit, was_left);
    if (error != nullptr)
        out = put_text(put_constant(put_text(out, " rc='"), error), "'");
    out = m_times.put_anew(put_text(out, " time='"), state.begin());
    // The state's thread has its own clock.
    out = m_times.put_anew(put_text(out, "' end='"), now > state.begin() ? now : state.begin());
    out = put_text(out, "' unfinished='1'");
    if (was_left || !state.has_children())
        return put_text(out, " />");
    out = state.put_children(put_text(out, " >"), limit);
    return put_text(put_constant(put_text(out, "</"), name), ">");
}

// Writes the whole lines that are not in the file yet and, until there are more, the unfinished one. In a
// compact trace only is_final makes lines of them that no later write goes over.
void TraceWriter::write(const Lock& lock, const Unfinished& unfinished)
{
    const Extent whole = unfinished.whole_lines;
    const Text new_lines = {m_buffer.text() + m_handled.bytes, size_t{whole.bytes} - m_handled.bytes};
    const bool has_tail = unfinished.elements.bytes > whole.bytes || unfinished.depth > 0;
    if (new_lines.size == 0 && !has_tail && !m_has_tail && !unfinished.is_final)
        return;
    // The objects must be described before calls name them.
    if (m_info != nullptr && m_error == 0)
        m_info->flush();
    if (m_error == 0 && !m_closed) {
        const Text all_lines = {m_buffer.text(), whole.bytes};
        const Text all_elements = {m_buffer.text(), unfinished.elements.bytes};
        if (!is_compact())
            write_to_file(lock, {new_lines}, elements_of(unfinished),
                          has_tail ? put_tail(unfinished) : Text{});
        else if (unfinished.is_final)
            write_to_file(lock, {all_lines, m_compact.whole_lines()}, {}, {});
        else
            write_to_file(lock, {}, all_elements, put_tail(unfinished));
    }
    count_written(unfinished);
    m_has_tail = has_tail;
}

void TraceWriter::count_written(const Unfinished& unfinished)
{
    const Extent whole = unfinished.whole_lines;
    const bool lost = m_error != 0 || m_closed;
    // After close() unfinished states have been handled before they are whole.
    (lost ? m_dropped_states : m_written_states) += int64_t{whole.states} - m_handled.states;
    m_handled = whole;
}

void TraceWriter::write_to_file(const Lock& lock, TraceOutput::Lines lines, Text elements, Text tail)
{
    const int64_t size = m_file.size();
    const int error = m_file.write(lines, elements, tail, room_to_compress(), lock.undisturbed());
    if (error != 0 && is_compact())
        put_back_saved(lock);
    fail(error);
    if (m_settings.on_written != nullptr)
        m_settings.on_written(m_file.size() - size);
}

// What was saved of a compact trace since the last block is still in the buffer.
void TraceWriter::put_back_saved(const Lock& lock)
{
    const Text saved = {m_buffer.text(), m_handled.bytes};
    const Text tail = put_compact_tail({m_handled, m_handled, 0}, false);
    if (saved.size > 0 && m_file.write({}, saved, tail, room_to_compress(), lock.undisturbed()) != 0)
        lose_saved();
}

void TraceWriter::lose_saved()
{
    m_written_states -= m_handled.states;
    m_dropped_states += m_handled.states;
}

void TraceWriter::fail(int error)
{
    if (error == 0)
        return;
    m_error = error;
    if (m_settings.on_error != nullptr)
        m_settings.on_error(m_file.path(), error);
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

} // namespace hdtrace
