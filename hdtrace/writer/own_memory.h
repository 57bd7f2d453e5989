// Memory apart from the program's heap: what a program writes behind the end of its memory, or into memory
// that it has freed, does not get at what is recorded.
#pragma once

#include <stddef.h>

namespace hdtrace {

/// Like malloc(), calloc(), realloc(), free() and strdup(), which they are with a sanitizer. Aligned to 16
/// bytes. Any thread may call them. Null, with errno, if there is no memory, or in a signal handler that has
/// interrupted one of them; what is given back there is lost.
void* own_malloc(size_t size);
void* own_calloc(size_t count, size_t size);
void* own_realloc(void* memory, size_t size);
void own_free(void* memory);
char* own_strdup(const char* text);

/// Bytes that were asked for and not given back, with what is kept beside them.
size_t own_memory_in_use();

} // namespace hdtrace

/// Tests define it, and are asked before memory is given out: errno is ENOMEM then.
extern "C" __attribute__((weak, visibility("default"))) bool hdtrace_refuses_memory(size_t size);
