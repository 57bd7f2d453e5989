// Numbers that have names, such as constants of mpi.h.
#pragma once

#include <span>
#include <stddef.h>

namespace hdtrace {

struct NamedValue {
    int value;
    const char* name; ///< needs no escaping
};

using NamedValues = std::span<const NamedValue>;

/// The name of a number, or the number if it has none. Both need room_for_names().
char* put_name(char* out, NamedValues names, int value);
/// A sum of constants, "CREATE|RDWR"; what has no name is a number, so that nothing is "0".
char* put_names(char* out, NamedValues names, int value);
/// The most bytes that they write.
size_t room_for_names(NamedValues names);

} // namespace hdtrace
