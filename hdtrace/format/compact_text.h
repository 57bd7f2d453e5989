// compact_text.h - the text of the records of a compact trace (hdtrace/compact_form.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/compact_form.h"
#include "hdtrace/format/text_notes.h"

namespace hdtrace::detail {

/// Where text goes: to memory, and what that has no room for to a string.
class TextOutput {
  public:
    TextOutput(char* to, std::size_t size, std::string& rest)
        : m_begin(to), m_next(to), m_end(to + size), m_rest(rest)
    {
    }
    void put(std::string_view text)
    {
        if (text.size() > static_cast<std::size_t>(m_end - m_next))
            return put_in_parts(text);
        std::memcpy(m_next, text.data(), text.size());
        m_next += text.size();
    }
    bool is_full() const { return m_next == m_end; }
    /// In memory.
    std::size_t written() const { return static_cast<std::size_t>(m_next - m_begin); }
    std::size_t size() const { return written() + m_rest.size(); }

  private:
    void put_in_parts(std::string_view text)
    {
        const auto count = static_cast<std::size_t>(m_end - m_next);
        std::memcpy(m_next, text.data(), count);
        m_next = m_end;
        m_rest += text.substr(count);
    }

    char* m_begin;
    char* m_next;
    char* m_end;
    std::string& m_rest; ///< empty at first
};

/// Makes text of records.
class CompactText {
  public:
    /// Of another unit: the forms before it are forgotten.
    void begin_unit();
    /// Nothing came before. Ends notes.
    void restart();
    /// Makes text of the records that are whole, until there is no room. Returns how many bytes of records it
    /// took; is_damaged() if no writer can have written them.
    std::size_t decode(std::string_view records, TextOutput& out);
    bool is_damaged() const { return m_is_damaged; }
    /// Whether nothing is missing where the records end.
    bool is_complete() const { return m_text_left == 0; }

    /// Begins with notes about the text that is made from here on. So many bytes that were made are counted.
    TextNotes& begin_notes(std::size_t made_before);

  private:
    enum class Kind : std::uint8_t { number = 1, seconds, begin, end, time };
    struct Value {
        Kind kind = Kind::number;
        std::uint8_t digits = 9;
        std::uint32_t place = 0;       ///< among the values of the line
        std::int64_t unit = 1;         ///< of a time, the last digit that is told: nanoseconds
        std::int64_t nanoseconds = 0;  ///< of seconds: the last one, also if it is negative
        std::int64_t second_begin = 0; ///< the last one, as it is told, without what is behind the point
    };
    /// Its last line, in which values are put over those before.
    struct Form {
        std::string line;
        std::vector<TextValue> in_line; ///< where values are
        std::vector<Value> values;      ///< those that are no times
        std::uint64_t known_values = 0; ///< a bit for each of them
        std::array<Value, 2> times;
        int time_count = 0;
        bool is_line = false;          ///< from its beginning to its only line feed
        std::uint32_t first_place = 0; ///< for notes
    };
    class Bytes;

    bool take_record(Bytes& in, TextOutput& out);
    bool take_form(Bytes& in);
    bool make_form(std::string_view text, Form& form);
    std::uint32_t first_place_of(std::string_view text, std::size_t values);
    bool take_depth(Bytes& in, TextOutput& out);
    bool take_line(Bytes& in, std::uint64_t code, TextOutput& out);
    bool take_changes(Bytes& in, std::uint64_t& changed);
    bool take_times(Bytes& in, const Form& form, std::array<std::int64_t, 2>& times);
    void change_values(Form& form, std::uint64_t changed);
    static void put_number(Form& form, std::size_t place, std::int64_t number);
    static void put_seconds(Form& form, Value& value, std::int64_t nanoseconds);
    static void replace(Form& form, std::size_t place, std::size_t replaced, std::int64_t number);
    bool damaged();

    std::vector<Form> m_forms;
    std::array<std::uint64_t, most_compact_values> m_changes; ///< of the line that is read
    std::int64_t m_last_time = 0;
    std::uint64_t m_nested = 0;    ///< bit d: the element at depth d has begun what is inside it
    std::uint64_t m_text_left = 0; ///< of a record of text
    bool m_is_damaged = false;

    bool m_makes_notes = false;
    TextNotes m_notes;
    std::int64_t m_made = 0;                                    ///< bytes, as the notes count them
    std::map<std::string, std::uint32_t, std::less<>> m_places; ///< where those of a form begin
    std::uint32_t m_next_place = 0;
};

} // namespace hdtrace::detail
