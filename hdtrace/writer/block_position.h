// Where in a compressed trace the next block begins, and what its head says.
#pragma once

#include "hdtrace/block_head.h"
#include "hdtrace/writer/output_file.h"

namespace hdtrace {

class BlockPosition {
  public:
    /// A block follows with these whole lines. Returns its head, but for its size in the file.
    BlockHead add_text(Text lines);
    /// The same with records (compact_form.h), of which @p lines says the size of their text, how many lines
    /// (`first_line`) and the times.
    BlockHead add_records(BlockHead lines);
    /// Text follows that is no block.
    void skip(Text text);

  private:
    uint64_t m_offset = 0;
    uint64_t m_line = 1;
};

} // namespace hdtrace
