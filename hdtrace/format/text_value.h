// text_value.h - a value in a text.
#pragma once

#include <cstdint>

namespace hdtrace::detail {

/// Where in a text a value is, and what number it is.
struct TextValue {
    std::uint32_t begin;
    std::uint32_t size : 31;
    std::uint32_t is_number : 1; ///< of 64 bits
    std::int64_t number;         ///< meaningless if it is none

    std::uint32_t end() const { return begin + size; }
};

} // namespace hdtrace::detail
