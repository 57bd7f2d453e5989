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

/// Whoever sees what the program stores from now on sees what we have stored before: that the state has
/// ended in which its memory was to be read. x86-64 keeps all stores in order by itself. No release does
/// this, for it only keeps what comes before it there.
inline void store_before_program()
{
#ifdef __aarch64__
    asm volatile("dmb ishst" ::: "memory");
#endif
}

} // namespace hdtrace
