// What structs and classes are made of, as debug information has them.
#pragma once

#include "merger/debug_information.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace hdtrace::merger {

/// A member or a base class.
struct StructPart {
    Dwarf_Die die; ///< has its type
    std::int64_t at = 0;
    std::int64_t bytes = 0; ///< which a bit field has a share of; of others 0
};

/// By their places in the struct. Nothing if some are at no fixed place. Throws what Steps throw.
std::optional<std::vector<StructPart>> parts_of(Dwarf_Die& structure, Steps& steps);

} // namespace hdtrace::merger
