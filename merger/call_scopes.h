// Which functions and blocks of the source contain a call, as debug information tells it.
#pragma once

#include "merger/debug_information.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace hdtrace::merger {

struct CallScopes {
    std::int64_t return_address = 0;
    Dwarf_Addr address = 0; ///< in the call itself
    /// The function, its blocks and the functions that the compiler put into it, the outermost first. Empty
    /// if the unit has no function there.
    std::vector<Dwarf_Die> scopes = {};
};

/// Whether the unit knows enough of the call, so that no other one is asked.
using OnCallScopes = std::function<bool(Dwarf_Die& unit, CallScopes& call)>;

/// Calls @p handle for each unit that may contain a call. @p return_addresses are ascending.
void find_call_scopes(Dwarf* dwarf, const std::vector<std::int64_t>& return_addresses, Steps& steps,
                      const OnCallScopes& handle);

} // namespace hdtrace::merger
