// declared_values.h - whether memory is declared to hold what a datatype says of it (MPI 4.1, 3.3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hdtrace/checking/type_signature.h"
#include "hdtrace/format/call_site.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

/// Elements of a datatype in memory.
struct TypedMemory {
    std::int64_t origin = 0; ///< what the places in the datatype are counted from
    std::int64_t count = 0;
    const MappedType& type;
    const TypeSignature& signature;
};

/// A value that the memory is not declared to hold.
struct Misfit {
    std::string value;      ///< "floating point number of 8 bytes"
    std::int64_t place = 0; ///< from where the variable begins to repeat itself
    std::string
        declared; ///< what is there: "integer of 4 bytes"; "nothing" between the members of a structure
};

/// The first one, among the first thousand; @p begin is where what @p variable is, or points to, begins.
///
/// Bytes and characters may be sent of anything, and much memory for characters may hold anything. A complex
/// number is two others; logical values are integers to many, and so are enumerations, whose sign compilers
/// choose.
std::optional<Misfit> find_misfit(const Variable& variable, std::int64_t begin, const TypedMemory& memory);

} // namespace hdtrace
