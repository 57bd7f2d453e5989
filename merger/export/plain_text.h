// The parts of texts that are written as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hdtrace/format/eight_bytes.h"

namespace hdtrace::exporter {

/// How many characters the text begins with that are printable ones of ASCII and none of these.
template <char... others> std::size_t plain_size(std::string_view text)
{
    static constexpr auto is_plain = [] {
        std::array<bool, 256> plain{};
        for (int c = ' '; c < 0x7f; ++c)
            plain[static_cast<std::size_t>(c)] = ((c != others) && ...);
        return plain;
    }();
    std::size_t size = 0;
    if constexpr (detail::has_eight_bytes)
        for (; text.size() - size >= 8; size += 8) {
            const std::uint64_t bytes = detail::eight_bytes(text.data() + size);
            const std::uint64_t special = (std::uint64_t{} | ... | detail::bytes_equal(bytes, others)) |
                                          detail::bytes_equal(bytes, '\x7f') |
                                          detail::bytes_below(bytes, ' ') | (bytes & detail::highest_bits);
            if (special != 0)
                return size + detail::bytes_before(special);
        }
    while (size < text.size() && is_plain[static_cast<unsigned char>(text[size])])
        ++size;
    return size;
}

} // namespace hdtrace::exporter
