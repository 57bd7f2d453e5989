// Memory of the program, which may have been given back or change meanwhile.
#pragma once

#include <stddef.h>

namespace hdtrace {

/// Copies it, if it is there: then the kernel says so, and nothing happens to the program. What was copied
/// may be a mixture if a thread changes it. For all threads and signal handlers.
bool copy_from_program(void* to, const void* from, size_t size);

template <typename Value> bool copy_from_program(Value& to, const Value* from)
{
    return copy_from_program(static_cast<void*>(&to), from, sizeof to);
}

/// The length of a text, which is copied without its NUL; @p most if it is not shorter. -1 if it is not
/// there.
long copy_string_from_program(char* to, const char* from, size_t most);

} // namespace hdtrace
