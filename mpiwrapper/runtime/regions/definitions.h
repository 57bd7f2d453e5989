// The names that the program gives its regions, marks and counters. Each is described once in the .info.
#pragma once

#include "mpiwrapper/runtime/regions/types.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// A name, for as long as the process lives.
struct Definition {
    enum class Kind : uint8_t { region, counter };

    const Definition* next; ///< of those with the same hash
    uint64_t hash;
    Kind kind;
    hdType type;        ///< of a counter
    size_t xml_length;  ///< of `xml`: group and name, escaped
    size_t name_length; ///< of the same as it was given, behind `xml`
    char xml[];

    const char* name() const { return xml + xml_length; }
};

/// What the program's object says, or said before. Null with an error of hdRError.
const Definition* define(hdRegion& region, int& error);
const Definition* define(hdCounter& counter, int& error);
/// The same for what may have been defined. Null if it has not.
const Definition* find_defined(const hdRegion& region);

/// Writes the line of a counter that is not the program's own, so that its name stays free for these.
void describe_counter(const hdCounter& counter, const char* description);

/// Describes a group of processes and threads. Returns 0 or an error.
int define_group(const char* name, const char* members);

} // namespace hdtrace::mpi
