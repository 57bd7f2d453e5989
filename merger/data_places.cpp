#include "merger/data_places.h"

#include <dwarf.h>

namespace hdtrace::merger {

namespace {

using From = DataPlace::From;

/// Clang has addresses in a table.
std::optional<DataPlace> place_in_table(Dwarf_Attribute& attribute, const Dwarf_Op& operation)
{
    Dwarf_Attribute entry;
    Dwarf_Addr address = 0;
    if (dwarf_getlocation_attr(&attribute, &operation, &entry) != 0 || dwarf_formaddr(&entry, &address) != 0)
        return std::nullopt;
    return DataPlace{From::zero, 0, static_cast<std::int64_t>(address)};
}

std::optional<DataPlace> first_place(Dwarf_Attribute& attribute, const Dwarf_Op& operation)
{
    const auto number = static_cast<std::int64_t>(operation.number);
    const unsigned int atom = operation.atom;
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return DataPlace{From::pointer, atom - DW_OP_breg0, number};
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
        return DataPlace{From::in_register, atom - DW_OP_reg0, 0};
    switch (atom) {
    case DW_OP_addr:
        return DataPlace{From::zero, 0, number};
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        return place_in_table(attribute, operation);
    case DW_OP_fbreg:
        return DataPlace{From::frame_base, 0, number};
    case DW_OP_call_frame_cfa:
        return DataPlace{From::frame_address, 0, 0};
    case DW_OP_bregx:
        return DataPlace{From::pointer, operation.number, static_cast<std::int64_t>(operation.number2)};
    case DW_OP_regx:
        return DataPlace{From::in_register, operation.number, 0};
    default:
        return std::nullopt;
    }
}

/// Of EQUIVALENCEs in Fortran a second operation tells where in their memory a variable begins, of its dummy
/// arguments that it is elsewhere.
std::optional<DataPlace> place_of(Dwarf_Attribute& attribute, const Dwarf_Op* operations, std::size_t count)
{
    if (count == 0 || count > 2)
        return std::nullopt;
    auto place = first_place(attribute, operations[0]);
    if (!place || count == 1)
        return place;
    if (place->from == From::in_register)
        return std::nullopt;
    place->holds_address = operations[1].atom == DW_OP_deref;
    const bool fits = operations[1].atom == DW_OP_plus_uconst &&
                      !__builtin_add_overflow(place->offset, operations[1].number, &place->offset);
    return fits || place->holds_address ? place : std::nullopt;
}

} // namespace

std::optional<DataPlace> place_at(Dwarf_Die& die, unsigned int name, Dwarf_Addr address, Steps& steps)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr(&die, name, &attribute))
        return std::nullopt;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    for (ptrdiff_t at = 0;
         (at = dwarf_getlocations(&attribute, at, &base, &begin, &end, &operations, &count)) > 0;) {
        steps.count();
        if (address >= begin && address < end)
            return place_of(attribute, operations, count);
    }
    return std::nullopt;
}

std::optional<DataPlace> lasting_place(Dwarf_Die& die)
{
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (!dwarf_attr(&die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0)
        return std::nullopt;
    return place_of(attribute, operations, count);
}

} // namespace hdtrace::merger
