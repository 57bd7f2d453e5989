// file.h - bytes of a file, all of them or whole lines only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/read_options.h"
#include "hdtrace/format/text_notes.h"

namespace hdtrace::detail {

/// What an XML reader takes its bytes from.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    /// Copies up to @p size bytes to @p target and says how many: 0 at the end or after an error.
    virtual std::size_t read(char* target, std::size_t size) = 0;
    /// The errno of what went wrong, or 0.
    virtual int error() const = 0;
    /// Why the bytes that follow are not handed out; empty if they are.
    virtual std::string refusal() const { return {}; }
    /// How many elements and attributes may be held in memory at once, of a text that is larger than what is
    /// stored of it.
    virtual std::size_t most_items() const { return std::numeric_limits<std::size_t>::max(); }
};

/// A text in memory, which must outlive it.
class TextSource : public ByteSource {
  public:
    explicit TextSource(std::string_view text, std::size_t most_items = ~std::size_t{})
        : m_rest(text), m_most_items(most_items)
    {
    }
    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return 0; }
    std::size_t most_items() const override { return m_most_items; }

  private:
    std::string_view m_rest;
    std::size_t m_most_items;
};

/// The text of a file, which may be compressed or in a packed file, from its beginning to its end.
class File : public ByteSource {
  public:
    /// Opens the compressed form where there is no other. Throws OpenError, and ReadError for a packed file
    /// that is damaged.
    explicit File(const std::string& path);
    ~File() override;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Reads fewer bytes only at the end and after an error.
    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return m_error; }
    std::string refusal() const override { return m_compressed ? m_compressed->refusal() : std::string(); }
    std::size_t most_items() const override;

    /// Whether it has a size, and bytes that can be read in any order.
    bool is_seekable() const { return m_is_seekable; }
    /// How long a line may be, since it is held in memory.
    std::size_t line_limit() const;
    /// Of the text.
    std::int64_t size() const { return m_compressed ? m_compressed->size() : m_size; }
    /// As may_lack_pieces().
    bool is_in_cut_node_file(std::int64_t known) const { return may_lack_pieces(m_place, known); }
    /// Goes to a byte of the text of a file that is seekable.
    void seek(std::int64_t offset);
    /// As those of CompressedText.
    TextNotes* begin_notes() { return m_compressed ? m_compressed->begin_notes() : nullptr; }
    /// Gives the descriptor back; the next read opens the file again. Files that are not seekable keep it.
    void suspend();

  private:
    void open();
    void close();
    std::size_t read_at(std::int64_t offset, char* target, std::size_t size);
    std::size_t read_in_extents(std::int64_t offset, char* target, std::size_t size);
    std::size_t read_in_file(std::int64_t offset, char* target, std::size_t size);

    FilePlace m_place;
    int m_descriptor = -1;
    int m_error = 0;
    bool m_is_seekable = false;
    std::int64_t m_size = 0;
    std::int64_t m_offset = 0;
    std::unique_ptr<CompressedText> m_compressed; ///< if it is
};

/// The whole lines of a file. A last line without line feed is held back, unless it ends with @p closing.
class WholeLines : public ByteSource {
  public:
    WholeLines(const std::string& path, std::string closing, const ReadOptions& options = {});
    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return m_file.error(); }
    std::string refusal() const override;
    std::size_t most_items() const override { return m_file.most_items(); }

    /// The next line with its line feed; it is valid until the next call. False at the end, and when error()
    /// or refusal() tell why.
    bool next_line(std::string_view& line);
    /// Makes notes from here on, if there are some.
    void begin_notes();
    /// Those about the line that next_line() returned.
    const NotedLine& noted() const { return m_noted; }
    /// Where the byte stands in the file that is read next.
    std::int64_t position() const { return m_begin + static_cast<std::int64_t>(m_next); }
    /// Reads on at a byte of a file that is seekable.
    void seek(std::int64_t offset);

    const File& file() const { return m_file; }
    bool is_in_cut_node_file() const { return m_file.is_in_cut_node_file(m_options.node_file_size); }

    /// Whether a last line was held back. Known at the end.
    bool cut_off() const { return m_at_end && m_whole < m_filled; }

  private:
    bool fill();
    std::size_t size_of_line();

    File m_file;
    std::string m_closing;
    ReadOptions m_options;
    std::size_t m_line_limit;
    std::string m_buffer;
    std::size_t m_filled = 0; ///< so many bytes of the buffer were read
    std::int64_t m_begin = 0; ///< where the buffer stands in the file
    std::size_t m_next = 0;   ///< the first byte that was not read yet
    std::size_t m_whole = 0;  ///< behind the last whole line
    bool m_at_end = false;
    bool m_is_too_long = false;
    NotedLine m_noted;
    std::int64_t m_noted_begin = 0; ///< the number that notes give the first byte of the buffer
};

} // namespace hdtrace::detail
