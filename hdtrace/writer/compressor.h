// Compresses what goes to a file (docs/format.md).
#pragma once

#include "hdtrace/block_head.h"
#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/trace_settings.h"

namespace hdtrace {

struct Codec;

/// All memory is had by open(): compress() and compress_block() may be used in signal handlers. Not
/// thread-safe.
class Compressor {
  public:
    Compressor() = default;
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    ~Compressor();

    /// Returns 0 or a value of errno: ELIBACC if there is no library that can do it.
    int open(Compression compression);
    bool is_open() const { return m_codec != nullptr; }
    /// Whether compress() and compress_block() take records (compact_form.h) and not text.
    bool is_compact() const { return m_is_compact; }

    /// The most bytes that they make of a text.
    static constexpr size_t bound(size_t text_size) { return text_size + text_size / 256 + 512; }

    /// Writes @p text at @p out in a form that is whole by itself. Returns what was written, nothing where
    /// that failed.
    Text compress(char* out, Text text);
    /// The same with text, also where records are wanted.
    Text compress_text(char* out, Text text);
    /// The same with whole lines, as a block. The size in the file is filled in.
    Text compress_block(char* out, Text lines, BlockHead head);

  private:
    const Codec* m_codec = nullptr;
    bool m_is_compact = false;
    void* m_memory = nullptr;
};

} // namespace hdtrace
