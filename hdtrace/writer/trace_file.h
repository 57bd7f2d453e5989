// A .trc file, plain or compressed: it is a whole, closed trace after each step.
#pragma once

#include "hdtrace/writer/block_position.h"
#include "hdtrace/writer/compressor.h"
#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/trace_settings.h"

namespace hdtrace {

/// Functions return 0 or a value of errno. Not thread-safe; all but choose() and the destructor are safe in
/// signal handlers. Where they need memory to compress, they are given room for it.
class TraceOutput {
  public:
    /// Whole lines, as text or as records of a compact trace.
    struct Lines {
        Text bytes = {};
        /// What the text of records is; `first_line`: how many lines.
        BlockHead of_records = {};
    };

    TraceOutput() = default;
    TraceOutput(const TraceOutput&) = delete;
    TraceOutput& operator=(const TraceOutput&) = delete;
    ~TraceOutput();

    /// Whether something that is not a file of this user's has the name of the trace, in any form.
    static bool is_taken(const char* path);
    /// Removes traces of this name in all forms. False if they are not ours.
    static bool remove_all(const char* path);
    /// Where the file will be: a compressed one has a suffix. Where no library can compress, it will be
    /// plain: a trace that is larger is better than none. Removes earlier traces of the same name, in all
    /// forms; EEXIST if they are not ours.
    int choose(const char* path, Compression compression);
    Compression form() const { return m_form; }
    bool is_compressed() const { return m_compressor.is_open(); }
    /// Whether lines, elements and tails are given as records (compact_form.h).
    bool is_compact() const { return m_compressor.is_compact(); }
    const char* path() const { return m_path; }
    /// How much room is needed for so much text.
    size_t room_for(size_t text_size) const { return is_compressed() ? Compressor::bound(text_size) : 0; }

    /// Creates the file with its first lines, and its last one, which is not copied. May be called again
    /// after close(), for another segment (segments.h).
    int open(int segment, Text head, Text footer, char* room);
    /// Adds whole lines. Until the next write() @p elements and @p tail follow, the tail in place of the
    /// footer; both may be empty. Elements of a compact trace count as lines do. After an error those that
    /// were there can be written again.
    int write(Lines lines, Text elements, Text tail, char* room, const Undisturbed& undisturbed);
    int close() { return m_file.close(); }
    /// Bytes in the file that no later write goes over.
    int64_t size() const { return m_file.size(); }

  private:
    int write_compressed(Lines lines, Text elements, Text tail, char* room, const Undisturbed& undisturbed);
    int write_parts(Text lines, Text elements, Text tail, const Undisturbed& undisturbed);

    char* m_path = nullptr; // with room for the number of a segment
    OutputFile m_file;
    Compression m_form = Compression::none;
    Compressor m_compressor;
    BlockPosition m_next_block; // only with compression
    char m_compressed_footer[Compressor::bound(0) + 64];
};

} // namespace hdtrace
