// compressed.h - the text of compressed files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hdtrace/block_head.h"
#include "hdtrace/trace_form.h"

namespace hdtrace::detail {

/// How many bytes tell whether a file is compressed.
inline constexpr std::size_t magic_size = 4;
bool is_compressed(std::string_view first_bytes);
/// In which form a file can be written anew that begins so; none if it is not compressed. What was records
/// becomes text, which is compressed.
std::optional<Compression> form_of(std::string_view first_bytes);

/// The name without what compression adds to it.
std::string_view plain_name(std::string_view path);
/// The name under which the file exists, with what compression adds to it if it does not exist without.
std::string existing_name(const std::string& path);
/// Whether there is a file under that name, perhaps compressed.
bool is_there_in_some_form(const std::string& path);

class Decoder;
class TextNotes;

/// The text of a file of zstd's frames or gzip's members. Text that was cut off ends with the last byte that
/// is known. Traces that we compressed are found by their blocks' heads; in other files only reading from the
/// beginning leads anywhere.
class CompressedText {
  public:
    /// Copies up to @p size bytes of the file from @p offset on, fewer at its end and after an error.
    using ReadAt = std::function<std::size_t(std::int64_t offset, char* target, std::size_t size)>;

    /// A file whose text is far larger than this many times itself is refused, since it is no trace.
    static constexpr std::int64_t most_expansion = 1000;

    /// The file has @p file_size bytes.
    CompressedText(ReadAt read_at, std::int64_t file_size);
    ~CompressedText();

    /// Reads fewer bytes only at the end and where refusal() says why.
    std::size_t read(char* target, std::size_t size);
    /// Why the bytes that follow are not handed out; empty if they are.
    const std::string& refusal() const { return m_refusal; }

    /// The size of the text.
    std::int64_t size();
    /// Goes to a byte of the text.
    void seek(std::int64_t offset);
    /// Notes about the text that is read from here on, until size() or seek() is called; null if there are
    /// none.
    TextNotes* begin_notes();
    /// Where in the text to begin so that no line is missed that ends at @p time, nanoseconds after
    /// timeAdjustment, or later: a beginning of a line.
    std::int64_t offset_of_time(std::int64_t time);

  private:
    struct Block {
        std::int64_t begin = 0; ///< in the file
        std::int64_t end = 0;
        BlockHead head = {};
    };

    std::optional<Block> next_block(std::int64_t begin, std::int64_t end);
    /// None if the head at @p begin says what cannot be.
    std::optional<Block> block_at(std::int64_t begin, const char* head) const;
    Block last_block_where(const std::function<bool(const BlockHead&)>& holds);
    void start_at(const Block& block);
    /// Whether what the decoder took for passing still stands in the file.
    bool is_as_it_was() const;
    void skip_text(std::int64_t size);

    ReadAt m_read_at;
    std::int64_t m_file_size;
    std::int64_t m_text_limit;
    std::unique_ptr<Decoder> m_decoder;
    std::string m_block_start; ///< what blocks begin with
    std::size_t m_start_size;  ///< with the whole head
    std::string m_input;
    std::string_view m_undecoded; ///< of the input
    std::int64_t m_next_input = 0;
    std::int64_t m_text_offset = 0;
    std::int64_t m_size = -1; ///< of the text, once it is known
    std::string m_refusal;
};

} // namespace hdtrace::detail
