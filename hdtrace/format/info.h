// Reads .info files (docs/format.md): the objects that the calls of one process refer to, one per line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace {

namespace detail {
class File;
}

/// One line: its kind ("File", "Comm", ...) and its values, escapes undone. Owns its text.
/// The line is taken apart when the first value is asked for, so lines of an unknown kind need not
/// follow the grammar. Every access may throw ReadError with the place of the line.
class InfoLine {
  public:
    struct Field {
        std::string key;
        std::string value;
        std::size_t column; ///< of the value, from 1
    };

    /// @p file is a name for messages and has to outlive the line.
    InfoLine(std::string_view file, std::uint64_t number, std::string text);
    /// An empty line, to be filled by InfoReader::next().
    InfoLine() = default;

    /// The first word.
    std::string_view kind() const { return std::string_view(m_text).substr(0, m_kind_size); }
    /// Counted from 1; that of the first part of a line continued with '\'.
    std::uint64_t number() const { return m_number; }

    /// The values in the order of the file.
    const std::vector<Field>& fields() const;
    /// The value, or nullptr. The first one counts if a key is there twice.
    const std::string* find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) != nullptr; }
    /// The value; a missing one is an error.
    const std::string& text(std::string_view key) const;
    std::string text_or(std::string_view key, std::string_view otherwise) const;
    /// The value as a number; a missing one, and one that is not a 64-bit number, is an error.
    std::int64_t integer(std::string_view key) const;
    /// The same of a number that must not be negative.
    std::int64_t natural(std::string_view key) const;
    std::optional<std::int64_t> optional_integer(std::string_view key) const;
    /// Seconds with a fraction, e.g. 0.120000000, in nanoseconds.
    std::optional<std::int64_t> optional_nanoseconds(std::string_view key) const;

    /// Throws ReadError for the value of @p key (or for the line if it has no such value).
    [[noreturn]] void fail(std::string_view key, const std::string& what) const;

  private:
    const Field* find_field(std::string_view key) const;
    void parse() const;

    std::string_view m_file;
    std::uint64_t m_number = 0;
    std::string m_text;
    std::size_t m_kind_size = 0;
    mutable std::vector<Field> m_fields;
    mutable bool m_parsed = false;
};

/// Streams the lines of a file in bounded memory. Empty lines are skipped. A line that ends with '\' goes on
/// in the next one. A last line without its line end was cut off: it is not returned.
/// One reader is for one thread.
class InfoReader {
  public:
    /// Longer lines are refused.
    static constexpr std::size_t default_line_limit = std::size_t{64} << 20;

    /// Throws OpenError.
    explicit InfoReader(std::string path, std::size_t line_limit = default_line_limit);
    ~InfoReader();

    /// Reads the next line into @p line, which must not outlive the reader; false at the end.
    /// Throws ReadError for a line that is too long and for a compressed file that is damaged, OpenError if
    /// the file cannot be read.
    bool next(InfoLine& line);

    const std::string& path() const { return m_path; }
    /// The number of the last line if it was cut off, else 0. Known once next() returned false.
    std::uint64_t truncated_line() const { return m_truncated_line; }
    /// Of all that next() has read of the file: after the end, files that are not the same have the same one
    /// hardly ever. Not negative.
    std::int64_t checksum() const;

  private:
    bool read_physical_line(std::string& text);
    bool fill();

    std::string m_path;
    std::size_t m_line_limit;
    std::unique_ptr<detail::File> m_file;
    std::unique_ptr<char[]> m_buffer;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    std::uint64_t m_line = 0;
    std::uint64_t m_truncated_line = 0;
    std::uint32_t m_crc = 0;
    std::uint64_t m_size = 0; ///< of what was read, in bytes
};

/// What the checksums of several files are together, in any order.
constexpr std::int64_t joined_checksums(std::int64_t one, std::int64_t other)
{
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other)) &
                                     INT64_MAX);
}

} // namespace hdtrace
