// Floating-point numbers as text, whatever the locale and however the program rounds.
#pragma once

#include <stddef.h>

namespace hdtrace::mpi {

inline constexpr size_t float_room = 40;

/// The number that reads as @p value again; "NaN", "INF" and "-INF" as XML Schema has them. Needs float_room
/// bytes, returns the end.
char* put_float(char* out, double value);

} // namespace hdtrace::mpi
