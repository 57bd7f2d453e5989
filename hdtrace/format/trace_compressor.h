// trace_compressor.h - compresses the text of a trace after the run.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hdtrace/writer/block_position.h"
#include "hdtrace/writer/compressor.h"

namespace hdtrace {

/// What a whole trace ends with.
inline constexpr std::string_view end_tag = "</Program>\n";

/// Makes of a trace's text what the writer would have made (docs/format.md): its beginning, blocks of whole
/// lines with heads, and its end. Where the text is not one state on each line, as in traces of the original
/// tools, blocks have no heads: such a file is read from its beginning. In a compact trace it stays text,
/// which is larger than records.
class TraceCompressor {
  public:
    using Write = std::function<void(std::string_view bytes)>;

    /// Throws std::runtime_error if there is no library for it.
    TraceCompressor(Compression compression, Write write);

    /// Takes the text in parts of any size. Throws std::runtime_error, and what Write throws.
    void write(std::string_view text);
    /// Behind the last part.
    void close();

  private:
    void take_root();
    void pack(std::string_view text, bool is_block);
    Text as_record(std::string_view text);

    Compressor m_compressor;
    Write m_write;
    BlockPosition m_position;
    bool m_has_root = false;
    bool m_has_heads = false;
    std::string m_text; ///< that is not compressed yet
    std::string m_record;
    std::string m_compressed;
};

} // namespace hdtrace
