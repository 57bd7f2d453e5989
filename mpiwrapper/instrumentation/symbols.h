// The names of functions, from the object files that they are in.
#pragma once

#include <stddef.h>

namespace hdtrace::instrumentation {

/// Fills in the function's name as its source has it; where nobody knows it, its place. Takes its time.
void name_of_function(const void* address, char* name, size_t size);

/// Another file may have the path of the last one now.
void forget_file();

} // namespace hdtrace::instrumentation
