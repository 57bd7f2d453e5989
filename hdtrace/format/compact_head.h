// compact_head.h - what stands before the records of a unit of a compact trace (hdtrace/compact_form.h).
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "hdtrace/block_head.h"
#include "hdtrace/compact_form.h"

namespace hdtrace::detail {

struct CompactHead {
    bool is_block;
    BlockHead block; ///< of what is no block only the size of the body
    CompactBody body;
};

inline constexpr std::size_t compact_lead_size = sizeof compact_unit_lead;

inline bool begins_with_lead(std::string_view bytes, const unsigned char (&lead)[compact_lead_size])
{
    return bytes.size() >= compact_lead_size && std::memcmp(bytes.data(), lead, compact_lead_size) == 0;
}

/// How many bytes read_compact_head() needs, by the first compact_lead_size of them; 0 if no unit begins so.
inline std::size_t size_of_compact_head(std::string_view lead)
{
    constexpr std::size_t form_of_body = 1;
    return begins_with_lead(lead, compact_block_lead)  ? compact_lead_size + block_head_size + form_of_body
           : begins_with_lead(lead, compact_unit_lead) ? compact_lead_size + compact_size_bytes + form_of_body
                                                       : 0;
}

/// The last byte is the first one of the body. Nothing if it is no head.
inline std::optional<CompactHead> read_compact_head(std::string_view bytes)
{
    CompactHead head = {
        begins_with_lead(bytes, compact_block_lead), {}, static_cast<CompactBody>(bytes.back())};
    const char* const values = bytes.data() + compact_lead_size;
    if (!head.is_block)
        head.block.compressed_size = get_little_endian(values);
    else if (!get_block_head(values, head.block))
        return {};
    if (head.block.compressed_size == 0 || head.body < CompactBody::records || head.body > CompactBody::zstd)
        return {};
    return head;
}

} // namespace hdtrace::detail
