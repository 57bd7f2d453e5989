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

    /// The most bytes that compress() and compress_block() make of a text.
    static constexpr size_t bound(size_t text_size) { return text_size + text_size / 256 + 512; }

    /// Writes @p text at @p out in a form that is whole by itself. Returns what was written, nothing where
    /// that failed.
    Text compress(char* out, Text text);
    /// The same with whole lines, as a block. The sizes in @p head are filled in.
    Text compress_block(char* out, Text lines, BlockHead head);

  private:
    const Codec* m_codec = nullptr;
    void* m_memory = nullptr;
};

/// What the names of compressed files end with.
const char* suffix_of(Compression compression);

} // namespace hdtrace
