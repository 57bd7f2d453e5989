#include "merger/data_places.h"

#include <span>

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

std::optional<std::int64_t> constant_in(const Dwarf_Op& operation)
{
    const unsigned int atom = operation.atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        return atom - DW_OP_lit0;
    if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
        return static_cast<std::int64_t>(operation.number);
    return std::nullopt;
}

/// What the first of the operations add to the place, and takes them off; nothing if they do anything else.
std::optional<std::int64_t> take_addition(std::span<const Dwarf_Op>& operations)
{
    if (operations[0].atom == DW_OP_plus_uconst) {
        const auto added = static_cast<std::int64_t>(operations[0].number);
        operations = operations.subspan(1);
        return added;
    }
    if (operations.size() < 2 || operations[1].atom != DW_OP_plus)
        return std::nullopt;
    const auto added = constant_in(operations[0]);
    operations = operations.subspan(2);
    return added;
}

/// Behind the first operation, others tell where in their memory a variable of an EQUIVALENCE in Fortran
/// begins, and since Clang 17 how far a frame is from its CFA; a last one tells of dummy arguments in Fortran
/// that they are elsewhere.
std::optional<DataPlace> place_of(Dwarf_Attribute& attribute, std::span<const Dwarf_Op> operations)
{
    if (operations.empty())
        return std::nullopt;
    auto place = first_place(attribute, operations[0]);
    operations = operations.subspan(1);
    if (operations.empty() || !place)
        return place;
    if (place->from == From::in_register)
        return std::nullopt;
    place->holds_address = operations.back().atom == DW_OP_deref;
    if (place->holds_address)
        operations = operations.first(operations.size() - 1);
    while (!operations.empty()) {
        const auto added = take_addition(operations);
        if (!added || __builtin_add_overflow(place->offset, *added, &place->offset))
            return std::nullopt;
    }
    return place;
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
            return place_of(attribute, {operations, count});
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
    return place_of(attribute, {operations, count});
}

} // namespace hdtrace::merger
