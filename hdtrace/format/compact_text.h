// compact_text.h - the text of the records of a compact trace (hdtrace/compact_form.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::detail {

/// Makes text of records.
class CompactText {
  public:
    /// Of another unit: the forms before it are forgotten.
    void begin_unit();
    /// Nothing came before.
    void restart();
    /// Adds the text of the records that are whole, until there are @p enough bytes of it. Returns how many
    /// bytes of records it took; is_damaged() if no writer can have written them.
    std::size_t decode(std::string_view records, std::string& text, std::size_t enough);
    bool is_damaged() const { return m_is_damaged; }
    /// Whether nothing is missing where the records end.
    bool is_complete() const { return m_text_left == 0; }

  private:
    /// What follows a text.
    enum class Kind : std::uint8_t { nothing, number, seconds, begin, end, time };
    struct Piece {
        std::uint32_t text_begin = 0;
        std::uint32_t text_size = 0;
        Kind kind = Kind::nothing;
        std::uint8_t digits = 9;
    };
    struct Form {
        std::string text;
        std::vector<Piece> pieces;
        std::vector<std::int64_t> values;
        std::size_t room = 0; ///< that a line needs at most
        std::uint8_t time_count = 0;
    };
    class Bytes;

    bool take_record(Bytes& in, std::string& text);
    bool take_form(Bytes& in);
    bool take_depth(Bytes& in, std::string& text);
    bool take_line(Bytes& in, std::uint64_t code, std::string& text);
    bool take_changes(Bytes& in, Form& form);
    char* put_line(char* out, const Form& form, std::array<std::int64_t, 2> times) const;
    bool damaged();

    std::vector<Form> m_forms;
    std::int64_t m_last_time = 0;
    std::uint64_t m_nested = 0;    ///< bit d: the element at depth d has begun what is inside it
    std::uint64_t m_text_left = 0; ///< of a record of text
    bool m_is_damaged = false;
};

} // namespace hdtrace::detail
