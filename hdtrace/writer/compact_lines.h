// The lines of a compact trace: how elements that only differ in their numbers are written as differences
// (compact_form.h).
#pragma once

#include "hdtrace/block_head.h"
#include "hdtrace/compact_form.h"
#include "hdtrace/writer/text.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace {

inline char* put_compact_number(char* out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = static_cast<char>(value | 0x80);
    *out++ = static_cast<char>(value);
    return out;
}

/// What a thread's elements have in common. An element consists of parts: constant texts, in which marks
/// (compact_mark) stand for values. Each sequence of parts is a form.
///
/// Records from one begin() on belong together: they say the difference to the last values that had the same
/// form. Not thread-safe.
class CompactLines {
  public:
    /// Values that have as many digits as the last one in a place of a form.
    struct Span {
        uint64_t begin;
        uint64_t size;
    };
    /// A sequence of parts, which is a form if something ends with it.
    struct Form {
        const char* part; ///< the last of them
        Form* recent;     ///< of those with one more, that which was asked for last; never null
        Form* shorter;    ///< without the last part
        Form* first_longer;
        Form* sibling;      ///< the next with the same `shorter`
        Form* expected;     ///< of a first part: what the last element that began with it became; never null
        uint64_t era;       ///< in which it got its number; 0: never
        uint32_t code;      ///< of a line without changes
        uint32_t text_size; ///< of all parts, but for the times, with the last values
        uint64_t seconds;   ///< which values are, as bits
        int64_t* last;      ///< values
        Span* spans;        ///< of each of them
        uint8_t value_count;
        uint8_t time_count;
        bool has_nanoseconds; ///< begin and end, neither of them rounded
    };

    CompactLines();
    CompactLines(const CompactLines&) = delete;
    CompactLines& operator=(const CompactLines&) = delete;
    ~CompactLines();

    /// Times count from @p base, in nanoseconds since the epoch, and have @p digits behind the point. False
    /// if memory is short. What is had here is enough for what programs do: so their calls need none.
    bool open(int64_t base, int digits);
    bool is_open() const { return m_unit != 0; }

    // ---- the parts of an element ----

    const Form* none() const { return &m_none; }
    /// What begins with a part. Parts are constants: they are known by their address.
    Form* start(const char* part)
    {
        Form* const recent = m_starts[place_of(part)];
        return __builtin_expect(recent->part == part, true) ? recent : find_start(part);
    }
    Form* next(Form* form, const char* part)
    {
        Form* const recent = form->recent;
        return __builtin_expect(recent->part == part, true) ? recent : find_longer(form, part);
    }
    /// Where memory was short: the line is lost.
    bool is_lost(const Form* form) const { return form == &m_lost; }
    /// The attributes of a state that tell its times, the same behind its site, and the time of an event.
    const char* times_part() const { return m_times_part; }
    const char* site_and_times_part() const { return m_site_and_times_part; }
    const char* time_part() const { return m_time_part; }

    // ---- records ----

    /// What is written from here on can be read alone.
    void begin_unit()
    {
        ++m_era;
        m_form_count = 0;
        m_last_time = 0;
        m_text_size = 0;
        m_whole = {};
    }
    bool has_number(const Form* form) const { return form->era == m_era; }
    /// What give_number() needs; 0 if memory is short.
    size_t room_for_number(Form* form);
    /// Says which form has the next number. Before each first use in a unit.
    char* give_number(char* out, Form* form);
    /// Where the values of the next line go, at most most_compact_values; put_line() only reads those that
    /// have changed.
    int64_t* values() { return m_values; }
    /// Sets those that are not @p changed to what they are @p known to be.
    void set_values(const int64_t* known, int count, uint64_t changed);
    /// Which of these differ from the last ones, as bits; for a form with a number.
    uint64_t changes(const Form* form) const;
    /// What begins like this one is expected to become the same.
    void expect(Form* form);
    /// With the values, of which @p changed are not the last ones, and the times, if the form has some, since
    /// the epoch: an event has @p end only. Needs room_for_line bytes.
    char* put_line(char* out, Form* form, uint64_t changed, int64_t begin, int64_t end);
    static constexpr size_t room_for_line = (most_compact_values + 4) * most_compact_number;
    /// Text that has no form stands between the two, right behind begin_text().
    static char* begin_text(char* out);
    static char* end_text(char* begin, char* end);
    /// The same as end_text(), in a line.
    void add_text(char* begin, char* end)
    {
        end_text(begin, end);
        m_text_size += static_cast<size_t>(end - begin);
    }
    static constexpr size_t room_for_text_head = 1 + 5;
    /// An element begins inside others, or has some inside. @p tags: the size of what reading makes of it.
    char* put_depth(char* out, int depth, size_t tags);

    // ---- whole lines ----

    /// Behind the outermost element.
    void end_line()
    {
        if (m_whole.count++ == 0)
            m_first_end = m_last_time;
        m_whole.text_size = m_text_size;
        m_whole.last_end = m_last_time;
    }
    /// What the whole lines of this unit are: the size of their text, how many they are (`first_line`), when
    /// the first and the last ended.
    BlockHead whole_lines() const
    {
        return {0,
                m_whole.text_size,
                0,
                m_whole.count,
                to_nanoseconds(m_first_end),
                to_nanoseconds(m_whole.last_end)};
    }

  private:
    char* put_changed_line(char* out, Form& form, uint64_t changed, int64_t begin, int64_t end);
    char* put_end(char* out, const Form& form, int64_t begin, int64_t end);
    static void change_size(Form& form, int value, int64_t now);

    static constexpr size_t start_count = 64;
    static size_t place_of(const char* part)
    {
        const auto address = reinterpret_cast<uintptr_t>(part);
        return (address >> 3 ^ address >> 9) % start_count;
    }
    Form* find_start(const char* part);
    Form* find_longer(Form* form, const char* part);
    Form* find_or_make(Form* shorter, const char* part);
    void* take_memory(size_t size);
    void measure(Form& form) const;
    bool make_values(Form& form);
    int64_t time_since_base(int64_t time) const;
    size_t size_of_time(int64_t time);
    void find_span(int64_t time);
    char* put_times(char* out, int64_t begin, int64_t end, int count);
    uint64_t to_nanoseconds(int64_t time) const { return static_cast<uint64_t>(time * m_unit); }

    int64_t m_unit = 0; // of times, nanoseconds
    int64_t m_base = 0;
    int m_digits = 9;
    uint64_t m_era = 1;
    uint32_t m_form_count = 0;
    int64_t m_last_time = 0; // since the base, in units
    int64_t m_first_end = 0; // of the first line
    uint64_t m_text_size = 0;
    struct Whole {
        uint64_t text_size;
        uint64_t count;
        int64_t last_end;
    };
    Whole m_whole = {};
    int64_t m_span_begin = 0; // times from here to the end of the span are as long
    int64_t m_span_end = 0;
    size_t m_size_in_span = 0;
    const char* m_times_part = nullptr;
    const char* m_site_and_times_part = nullptr;
    const char* m_time_part = nullptr;
    int64_t m_values[most_compact_values] = {};
    Form* m_starts[start_count];
    struct Chunk;
    Chunk* m_chunk = nullptr; // of memory for forms, the last one
    Form m_none = {};         // no part
    Form m_lost = {};
};

} // namespace hdtrace
