// text_notes.h - what is known of a text besides its characters, when it was made of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hdtrace/format/text_value.h"

namespace hdtrace::detail {

/// Where values stand in a text, and which numbers they are. Notes are kept from when the text is made to
/// when it was looked at. Bytes are counted from the one that was the next when notes began.
class TextNotes {
  public:
    /// A value, which begins so far behind the beginning of its record's text. Of what is told as seconds the
    /// number is that of nanoseconds, although it is no number there.
    using Value = TextValue;
    /// Values of which something is known are next.
    struct Next {
        const Value* value = nullptr; ///< the first that does not begin before; null if nothing is known
        const Value* end = nullptr;   ///< of the record's values
        std::uint32_t begin = 0;      ///< where in the record's text the byte is
        std::uint32_t text_end = 0;   ///< of the record
        std::uint32_t place = 0;      ///< of the first value: as in all records with the same text around
        bool is_line = false;         ///< the record's text, which ends with its only line feed
    };

    /// Forgets all.
    void clear();
    /// Adds a record behind all others, if there are not too many values.
    void add(std::int64_t begin, std::size_t text_size, bool is_line, const std::vector<Value>& values,
             std::uint32_t first_place)
    {
        if (m_values.size() > most_values)
            return;
        m_records.push_back({begin, begin + static_cast<std::int64_t>(text_size), m_values.size(),
                             static_cast<std::uint32_t>(values.size()), first_place, is_line});
        m_values.insert(m_values.end(), values.begin(), values.end());
    }
    /// What is known from a byte on. No byte must be before the one that was asked for last.
    Next next(std::int64_t byte)
    {
        const Record* record = m_records.data() + m_record;
        const Record* const end = m_records.data() + m_records.size();
        for (; record != end && record->end <= byte; ++record) {
            ++m_record;
            m_value = 0;
        }
        if (record == end || record->begin > byte)
            return {};
        const auto begin = static_cast<std::uint32_t>(byte - record->begin);
        const Value* const values = m_values.data() + record->first_value;
        while (m_value < record->value_count && values[m_value].begin < begin)
            ++m_value;
        return {values + m_value,
                values + record->value_count,
                begin,
                static_cast<std::uint32_t>(record->end - record->begin),
                record->first_place + m_value,
                record->is_line};
    }
    /// Nobody asks for what is before a byte.
    void forget_before(std::int64_t byte);

  private:
    struct Record {
        std::int64_t begin, end;
        std::size_t first_value;
        std::uint32_t value_count;
        std::uint32_t first_place;
        bool is_line;
    };
    /// More than a block of text has. Lines that are longer have values of which nothing is known.
    static constexpr std::size_t most_values = 16 * 1024;

    std::vector<Record> m_records;
    std::vector<Value> m_values;
    std::size_t m_record = 0;  ///< in which was looked last
    std::uint32_t m_value = 0; ///< likewise
};

/// Notes about a line.
struct NotedLine {
    TextNotes* notes = nullptr; ///< if there are some
    std::int64_t begin = 0;     ///< the number of its first byte
    TextNotes::Next next;       ///< what is known from there on
};

} // namespace hdtrace::detail
