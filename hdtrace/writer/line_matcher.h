// Finds what the lines of a trace have in common with earlier ones.
#pragma once

#include "hdtrace/writer/output_file.h"

#include <stdint.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

namespace hdtrace {

/// zstd's own search looks at every byte. That of a trace knows where to look: a line mostly is the one of
/// the previous round of the program's loop with other last digits, so it is a few copies from the same
/// distance. Finding those takes a fifth of the time and they are shorter to describe: together that makes
/// files as small as with zstd's level 19.
class LineMatcher {
  public:
    static constexpr size_t longest_text = 128 * 1024;
    static constexpr size_t most_copies = 4096;

    /// Describes the beginning of @p text, all of it unless it has too many copies, by literal bytes and
    /// copies of earlier bytes. Returns how much.
    size_t find_copies(Text text);
    /// What was found; the last one has literals only.
    const ZSTD_Sequence* copies() const { return m_copies; }
    size_t count() const { return m_count; }

  private:
    const char* find_source(const char* at);
    const char* cut_at_line(const char* begin, const char* end) const;
    void remember_lines(const char* begin, const char* end);
    uint32_t& slot_of(const char* at);
    uint32_t place_of(const char* at) const { return static_cast<uint32_t>(at - m_begin) + 1; }
    void add(const char* begin, const char* source, size_t length);

    static constexpr int slot_bits = 10;
    const char* m_begin;
    const char* m_end;
    const char* m_literals; // since the last copy
    const char* m_aligned;  // where the line that was copied from goes on; may be null
    size_t m_distance;      // of the last copy
    size_t m_count = 0;
    uint32_t m_slots[1 << slot_bits]; // where words like these were last; 0: nowhere
    ZSTD_Sequence m_copies[most_copies];
};

} // namespace hdtrace
