// Integers times fractions.
#pragma once

#include <stdint.h>

namespace hdtrace {

/// @p value * @p numerator / @p denominator, rounded down, where the product needs more than 64 bits.
inline uint64_t scaled(uint64_t value, uint64_t numerator, uint64_t denominator)
{
    using Wide = unsigned __int128;
    return static_cast<uint64_t>(Wide{value} * numerator / denominator);
}

} // namespace hdtrace
