#include "hdtrace/writer/compact_lines.h"

#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/own_memory.h"

#include <new>
#include <stdlib.h>
#include <string.h>

namespace hdtrace {

namespace {

constexpr int least_digits = 6;
// By the digits of times, from least_digits on.
#define HDTRACE_TIMES(digits) " time='\3" digits "' end='\4" digits "'"
constexpr const char* times_parts[] = {HDTRACE_TIMES("6"), HDTRACE_TIMES("7"), HDTRACE_TIMES("8"),
                                       HDTRACE_TIMES("9")};
constexpr const char* site_and_times_parts[] = {
    " site='\1'" HDTRACE_TIMES("6"), " site='\1'" HDTRACE_TIMES("7"), " site='\1'" HDTRACE_TIMES("8"),
    " site='\1'" HDTRACE_TIMES("9")};
#undef HDTRACE_TIMES
constexpr const char* time_parts[] = {" time='\5"
                                      "6'",
                                      " time='\5"
                                      "7'",
                                      " time='\5"
                                      "8'",
                                      " time='\5"
                                      "9'"};
static_assert(compact_mark::number == '\1' && compact_mark::begin == '\3' && compact_mark::end == '\4' &&
              compact_mark::time == '\5');

constexpr int64_t nanoseconds_in_second = 1'000'000'000;

constexpr uint64_t limits_of_digits[] = {1,
                                         10,
                                         100,
                                         1'000,
                                         10'000,
                                         100'000,
                                         1'000'000,
                                         10'000'000,
                                         100'000'000,
                                         1'000'000'000,
                                         10'000'000'000,
                                         100'000'000'000,
                                         1'000'000'000'000,
                                         10'000'000'000'000,
                                         100'000'000'000'000,
                                         1'000'000'000'000'000,
                                         10'000'000'000'000'000,
                                         100'000'000'000'000'000,
                                         1'000'000'000'000'000'000,
                                         10'000'000'000'000'000'000u};

constexpr size_t most_digits_in_span = 18;

size_t size_of_number(int64_t value)
{
    const uint64_t size = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    // 1233 / 4096 is a little more than the logarithm of 2 to the base 10.
    const unsigned bits = 64 - static_cast<unsigned>(__builtin_clzll(size | 1));
    const unsigned about = bits * 1233 >> 12;
    return about + (size >= limits_of_digits[about]) + (value < 0) + (size == 0);
}

size_t size_of_value(int64_t value, bool is_seconds)
{
    constexpr size_t behind_second = 1 + 9;
    return is_seconds ? size_of_number(value / nanoseconds_in_second) + behind_second : size_of_number(value);
}

// Most of them have two bytes.
inline char* put_time_difference(char* out, uint64_t difference)
{
    constexpr uint64_t in_first_byte = 0x7f, more = 0x80, most_in_two_bytes = 0x3fff;
    if (__builtin_expect(difference - more > most_in_two_bytes - more, false))
        return put_compact_number(out, difference);
    // What is in the second byte counts twice: there is room for `more`.
    const auto bytes = static_cast<uint16_t>(difference + (difference & ~in_first_byte) + more);
    memcpy(out, &bytes, sizeof bytes);
    return out + sizeof bytes;
}

// A number of a fixed size, for one that is only known later.
constexpr size_t size_bytes = 5;

void put_size(char* out, size_t size)
{
    for (size_t i = 0; i + 1 < size_bytes; ++i, size >>= 7)
        out[i] = static_cast<char>(size | 0x80);
    out[size_bytes - 1] = static_cast<char>(size & 0x7f);
}

} // namespace

struct CompactLines::Chunk {
    Chunk* before;
    size_t used;
    alignas(8) char memory[32 * 1024 - 16];
};

CompactLines::CompactLines()
{
    m_none.recent = m_lost.recent = m_none.expected = m_lost.expected = &m_none;
    for (Form*& start : m_starts)
        start = &m_none;
}

CompactLines::~CompactLines()
{
    while (m_chunk != nullptr) {
        Chunk* const before = m_chunk->before;
        own_free(m_chunk);
        m_chunk = before;
    }
}

bool CompactLines::open(int64_t base, int digits)
{
    m_base = base;
    m_digits = digits;
    m_times_part = times_parts[digits - least_digits];
    m_site_and_times_part = site_and_times_parts[digits - least_digits];
    m_time_part = time_parts[digits - least_digits];
    m_unit = 1;
    for (int i = digits; i < 9; ++i)
        m_unit *= 10;
    return take_memory(0) != nullptr;
}

// Aligned for forms and values; null if memory is short. It is given back with all else.
void* CompactLines::take_memory(size_t size)
{
    if (m_chunk == nullptr || sizeof m_chunk->memory - m_chunk->used < size) {
        auto* const made = static_cast<Chunk*>(own_malloc(sizeof(Chunk)));
        if (made == nullptr)
            return nullptr;
        made->before = m_chunk;
        made->used = 0;
        m_chunk = made;
    }
    void* const taken = m_chunk->memory + m_chunk->used;
    m_chunk->used += size;
    return taken;
}

auto CompactLines::find_start(const char* part) -> Form*
{
    Form* const found = find_or_make(&m_none, part);
    if (!is_lost(found))
        m_starts[place_of(part)] = found;
    return found;
}

auto CompactLines::find_longer(Form* form, const char* part) -> Form*
{
    if (is_lost(form))
        return form;
    Form* const found = find_or_make(form, part);
    if (!is_lost(found))
        form->recent = found;
    return found;
}

auto CompactLines::find_or_make(Form* shorter, const char* part) -> Form*
{
    for (Form* form = shorter->first_longer; form != nullptr; form = form->sibling) {
        if (form->part == part)
            return form;
    }
    void* const memory = take_memory(sizeof(Form));
    if (memory == nullptr)
        return &m_lost;
    Form* const made = new (memory) Form{};
    made->part = part;
    made->recent = made->expected = &m_none;
    made->shorter = shorter;
    made->sibling = shorter->first_longer;
    shorter->first_longer = made;
    return made;
}

// What its parts have in them.
void CompactLines::measure(Form& form) const
{
    form.value_count = form.time_count = 0;
    form.text_size = 0;
    form.seconds = 0;
    // From the last part to the first: values come before those that are known.
    for (const Form* at = &form; at != &m_none; at = at->shorter) {
        int values = 0;
        uint64_t seconds = 0;
        for (const char* text = at->part; *text != '\0'; ++text) {
            switch (*text) {
            case compact_mark::number:
                ++values;
                break;
            case compact_mark::seconds:
                seconds |= uint64_t{1} << values++;
                break;
            case compact_mark::begin:
            case compact_mark::end:
            case compact_mark::time:
                ++form.time_count;
                ++text; // the digit
                break;
            default:
                ++form.text_size;
            }
        }
        form.seconds = form.seconds << values | seconds;
        form.value_count = static_cast<uint8_t>(form.value_count + values);
    }
    form.has_nanoseconds = form.time_count == 2 && m_unit == 1;
}

bool CompactLines::make_values(Form& form)
{
    measure(form);
    if (form.last == nullptr && form.value_count > 0) {
        form.last = static_cast<int64_t*>(take_memory(form.value_count * (sizeof(int64_t) + sizeof(Span))));
        form.spans = reinterpret_cast<Span*>(form.last + form.value_count);
    }
    if (form.last == nullptr && form.value_count > 0)
        return false;
    for (int i = 0; i < form.value_count; ++i) {
        form.last[i] = 0;
        form.spans[i] = {};
        form.text_size += static_cast<uint32_t>(size_of_value(0, (form.seconds >> i & 1) != 0));
    }
    return true;
}

size_t CompactLines::room_for_number(Form* form)
{
    if (!make_values(*form))
        return 0;
    size_t size = 1 + most_compact_number;
    for (const Form* at = form; at != &m_none; at = at->shorter)
        size += strlen(at->part);
    return size;
}

char* CompactLines::give_number(char* out, Form* form)
{
    size_t size = 0;
    for (const Form* at = form; at != &m_none; at = at->shorter)
        size += strlen(at->part);
    out = put_compact_number(put_compact_number(out, compact_code::form), size);
    char* part_end = out + size;
    for (const Form* at = form; at != &m_none; at = at->shorter) {
        const size_t part_size = strlen(at->part);
        part_end -= part_size;
        memcpy(part_end, at->part, part_size);
    }
    form->era = m_era;
    form->code = static_cast<uint32_t>(compact_code::first_line + 2 * uint64_t{m_form_count++});
    return out + size;
}

int64_t CompactLines::time_since_base(int64_t time) const
{
    const int64_t since = time > m_base ? time - m_base : 0;
    return m_unit == 1 ? since : since / m_unit;
}

size_t CompactLines::size_of_time(int64_t time)
{
    if (time >= m_span_end || time < m_span_begin)
        find_span(time);
    return m_size_in_span;
}

// In which the second has as many digits.
void CompactLines::find_span(int64_t time)
{
    const int64_t second = nanoseconds_in_second / m_unit;
    m_span_begin = 0;
    m_span_end = 10 * second;
    size_t digits = 1;
    for (; time >= m_span_end && m_span_end <= INT64_MAX / 10; ++digits) {
        m_span_begin = m_span_end;
        m_span_end *= 10;
    }
    m_size_in_span = digits + 1 + static_cast<size_t>(m_digits);
}

void CompactLines::set_values(const int64_t* known, int count, uint64_t changed)
{
    for (int i = 0; i < count; ++i) {
        if ((changed >> i & 1) == 0)
            m_values[i] = known[i];
    }
}

uint64_t CompactLines::changes(const Form* form) const
{
    uint64_t changed = 0;
    for (int i = 0; i < form->value_count; ++i)
        changed |= uint64_t{m_values[i] != form->last[i]} << i;
    return changed;
}

void CompactLines::expect(Form* form)
{
    Form* first = form;
    while (first->shorter != &m_none)
        first = first->shorter;
    first->expected = form;
}

// Of the text, for the value is not in the span of the last one.
void CompactLines::change_size(Form& form, int value, int64_t now)
{
    Span& span = form.spans[value];
    const bool is_seconds = (form.seconds >> value & 1) != 0;
    form.text_size += static_cast<uint32_t>(size_of_value(now, is_seconds)) -
                      static_cast<uint32_t>(size_of_value(form.last[value], is_seconds));
    span = {}; // not known
    const size_t digits = size_of_number(now);
    if (now < 0 || is_seconds || digits > most_digits_in_span)
        return;
    span.begin = digits > 1 ? limits_of_digits[digits - 1] : 0;
    span.size = limits_of_digits[digits] - span.begin;
}

char* CompactLines::put_line(char* out, Form* form, uint64_t changed, int64_t begin, int64_t end)
{
    if (changed != 0)
        return put_changed_line(out, *form, changed, begin, end);
    return put_end(put_compact_number(out, form->code), *form, begin, end);
}

// Not inline, for it needs registers that the caller does not.
__attribute__((noinline)) char* CompactLines::put_changed_line(char* out, Form& form, uint64_t changed,
                                                               int64_t begin, int64_t end)
{
    out = put_compact_number(put_compact_number(out, form.code + 1), changed);
    for (; changed != 0; changed &= changed - 1) {
        const int i = __builtin_ctzll(changed);
        const Span span = form.spans[i];
        const uint64_t value = static_cast<uint64_t>(m_values[i]), last = static_cast<uint64_t>(form.last[i]);
        out = put_compact_number(out, to_unsigned(static_cast<int64_t>(value - last)));
        if (__builtin_expect(value - span.begin >= span.size, false))
            change_size(form, i, m_values[i]);
        form.last[i] = m_values[i];
    }
    return put_end(out, form, begin, end);
}

// Behind the values.
__attribute__((always_inline)) inline char* CompactLines::put_end(char* out, const Form& form, int64_t begin,
                                                                  int64_t end)
{
    m_text_size += form.text_size;
    const int64_t begun = begin - m_base, ended = end - m_base;
    // As it is nearly always.
    if (__builtin_expect(form.has_nanoseconds && begun >= m_span_begin && ended < m_span_end, true)) {
        out = put_time_difference(out, to_unsigned(begun - m_last_time));
        out = put_time_difference(out, static_cast<uint64_t>(ended) - static_cast<uint64_t>(begun));
        m_text_size += 2 * m_size_in_span;
        m_last_time = ended;
        return out;
    }
    return form.time_count == 0 ? out
                                : put_times(out, form.time_count == 2 ? begin : end, end, form.time_count);
}

char* CompactLines::put_times(char* out, int64_t begin, int64_t end, int count)
{
    const int64_t begun = time_since_base(begin), ended = time_since_base(end);
    out = put_compact_number(out, to_unsigned(begun - m_last_time));
    m_text_size += size_of_time(begun);
    if (count == 2) {
        out = put_compact_number(out, static_cast<uint64_t>(ended) - static_cast<uint64_t>(begun));
        m_text_size += size_of_time(ended);
    }
    m_last_time = ended;
    return out;
}

char* CompactLines::begin_text(char* out)
{
    *out++ = static_cast<char>(compact_code::text);
    return out + size_bytes;
}

char* CompactLines::end_text(char* begin, char* end)
{
    put_size(begin - size_bytes, static_cast<size_t>(end - begin));
    return end;
}

char* CompactLines::put_depth(char* out, int depth, size_t tags)
{
    m_text_size += tags;
    return put_compact_number(put_compact_number(out, compact_code::depth), static_cast<uint64_t>(depth));
}

} // namespace hdtrace
