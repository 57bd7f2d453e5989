// byte_ranges.h - bytes that a call accesses, with the gaps that its datatype has.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hdtrace/matching/type_map.h"

namespace hdtrace {

/// Begin and end of each, by their begin.
using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Pieces pieces; ///< of it, if it has gaps

    bool operator==(const ByteRange&) const = default;
};

/// Whether they have a byte in common.
bool overlap(const ByteRange& one, const ByteRange& other);

/// Whether two of the pieces have a byte in common.
bool overlap_each_other(const Pieces& pieces);

/// Those of @p count elements of a datatype, the first of which is at @p origin; of many only the first of
/// the data.
Pieces pieces_of(const MappedType& type, std::int64_t origin, std::int64_t count);

} // namespace hdtrace
