// blocks.h - the blocks that an indexed datatype is made of.
#pragma once

#include <cstdint>
#include <functional>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Equal blocks at equal distances.
struct Blocks {
    std::int64_t count = 1;
    std::int64_t length = 0; ///< of each, in elements of the old type
    /// Of the first one, and from one to the next: in bytes for HINDEXED, HINDEXED_INTEGER and
    /// HINDEXED_BLOCK, in extents of the old type for INDEXED and INDEXED_BLOCK.
    std::int64_t displacement = 0;
    std::int64_t step = 0;
};

/// Whether MPI's constructor was given blocks: INDEXED, HINDEXED, INDEXED_BLOCK and the like.
bool is_indexed(const Datatype& datatype);

/// Visits the blocks of an indexed datatype in their order, many at once where the project tells so, until
/// @p visit says false. False also where a row is not what format.md says.
bool for_each_blocks(const Datatype& datatype, const std::function<bool(const Blocks&)>& visit);

} // namespace hdtrace
