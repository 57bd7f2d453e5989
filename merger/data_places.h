// Where debug information says that data is, as far as that is a fixed place.
#pragma once

#include "merger/debug_information.h"

#include <cstdint>
#include <optional>

namespace hdtrace::merger {

/// An offset from something.
struct DataPlace {
    enum class From {
        zero,          ///< an address of the file
        frame_base,    ///< of the function
        frame_address, ///< the canonical frame address (CFA) of the function
        pointer,       ///< what a register holds
        in_register,   ///< the register itself
    };
    From from = From::zero;
    std::uint64_t register_number = 0;
    std::int64_t offset = 0;
    bool holds_address = false; ///< there is just the address of the data, which can be anywhere
};

/// What the attribute of @p die says of the moment when the program is at @p address. Nothing if that is not
/// such a place, in parts, or computed in another way.
std::optional<DataPlace> place_at(Dwarf_Die& die, unsigned int attribute, Dwarf_Addr address, Steps& steps);

/// What holds at any time.
std::optional<DataPlace> lasting_place(Dwarf_Die& die);

} // namespace hdtrace::merger
