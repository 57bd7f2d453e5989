// Where in a compressed trace the next block begins, and what its head says.
#pragma once

#include "hdtrace/block_head.h"
#include "hdtrace/writer/output_file.h"

namespace hdtrace {

class BlockPosition {
  public:
    /// The head of a block with these whole lines, but for its sizes.
    BlockHead head_of(Text lines) const;
    /// The text is in the file, as a block or in another way.
    void skip(Text text);

  private:
    uint64_t m_offset = 0;
    uint64_t m_line = 1;
};

} // namespace hdtrace
