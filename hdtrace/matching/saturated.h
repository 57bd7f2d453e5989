// saturated.h - arithmetic that stops at the largest number: files may hold any numbers.
#pragma once

#include <cstdint>
#include <limits>

namespace hdtrace {

/// Of numbers that are not negative.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b)
{
    return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max()
                                                            : a + b;
}

/// Of numbers that are not negative.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b)
{
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// 0 if @p a is not larger than @p b.
constexpr std::int64_t saturated_difference(std::int64_t a, std::int64_t b)
{
    std::int64_t difference = 0;
    if (a <= b)
        return 0;
    return __builtin_sub_overflow(a, b, &difference) ? std::numeric_limits<std::int64_t>::max() : difference;
}

/// Of any numbers, also the smallest number where it would be less.
constexpr std::int64_t saturated_distance(std::int64_t end, std::int64_t begin)
{
    std::int64_t distance = 0;
    if (!__builtin_sub_overflow(end, begin, &distance))
        return distance;
    return end < begin ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

} // namespace hdtrace
