// byte_ranges.h - bytes that a call accesses, with the gaps that its datatype has.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hdtrace/matching/type_map.h"

namespace hdtrace {

struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces; ///< of it, if it has gaps

    bool operator==(const ByteRange&) const = default;
};

/// Whether they have a byte in common.
bool overlap(const ByteRange& one, const ByteRange& other);

/// Those of @p count elements of a datatype, the first of which is at @p origin; of many only the first.
std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(const MappedType& type, std::int64_t origin,
                                                             std::int64_t count);

} // namespace hdtrace
