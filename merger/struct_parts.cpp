#include "merger/struct_parts.h"

#include <dwarf.h>

#include <algorithm>
#include <bit>

namespace hdtrace::merger {

namespace {

constexpr Dwarf_Word most_bytes = Dwarf_Word{1} << 48; // so that nothing overflows that counts bits

/// @p other if it is not there; nothing if it is no such number.
std::optional<Dwarf_Word> small_number_of(Dwarf_Die& die, unsigned int name, Dwarf_Word other)
{
    const auto number = has(die, name) ? number_of(die, name) : std::optional(other);
    return number && *number <= most_bytes ? number : std::nullopt;
}

/// From the least significant bit of the struct's first byte on. In old versions of DWARF from the most
/// significant one of the memory that the bit field is read with.
std::optional<Dwarf_Word> first_bit_of(Dwarf_Die& die, Dwarf_Word bits)
{
    if (!has(die, DW_AT_bit_offset))
        return small_number_of(die, DW_AT_data_bit_offset, 0);
    const auto bytes = small_number_of(die, DW_AT_byte_size, most_bytes + 1);
    const auto offset = small_number_of(die, DW_AT_bit_offset, 0);
    if (!bytes || !offset || *offset + bits > *bytes * 8)
        return std::nullopt;
    return std::endian::native == std::endian::little ? *bytes * 8 - *offset - bits : *offset;
}

std::optional<StructPart> bit_field(Dwarf_Die& die, Dwarf_Word at)
{
    const auto bits = small_number_of(die, DW_AT_bit_size, 0);
    const auto first = bits ? first_bit_of(die, *bits) : std::nullopt;
    if (!first || *bits == 0)
        return std::nullopt;
    const Dwarf_Word begin = *first / 8, end = (*first + *bits + 7) / 8;
    return StructPart{die, static_cast<std::int64_t>(at + begin), static_cast<std::int64_t>(end - begin)};
}

/// Of classes; others share the memory of virtual ones.
bool is_virtual_base(Dwarf_Die& die)
{
    return dwarf_tag(&die) == DW_TAG_inheritance && has(die, DW_AT_virtuality);
}

std::optional<StructPart> part_of(Dwarf_Die& die)
{
    const auto at = small_number_of(die, DW_AT_data_member_location, 0);
    if (!at || is_virtual_base(die))
        return std::nullopt;
    if (has(die, DW_AT_bit_size))
        return bit_field(die, *at);
    return StructPart{die, static_cast<std::int64_t>(*at)};
}

bool is_part(Dwarf_Die& die)
{
    const int tag = dwarf_tag(&die);
    const bool is_static = has(die, DW_AT_external) || has(die, DW_AT_declaration);
    return tag == DW_TAG_inheritance || tag == DW_TAG_variant_part || (tag == DW_TAG_member && !is_static);
}

} // namespace

std::optional<std::vector<StructPart>> parts_of(Dwarf_Die& structure, Steps& steps)
{
    std::vector<StructPart> parts;
    Dwarf_Die child;
    for (bool has_child = dwarf_child(&structure, &child) == 0; has_child;
         has_child = dwarf_siblingof(&child, &child) == 0) {
        steps.count();
        if (!is_part(child))
            continue;
        const auto part = dwarf_tag(&child) == DW_TAG_variant_part ? std::nullopt : part_of(child);
        if (!part)
            return std::nullopt;
        parts.push_back(*part);
    }
    std::ranges::stable_sort(parts, {}, &StructPart::at);
    return parts;
}

} // namespace hdtrace::merger
