// How names of programs and hosts stand in file names (docs/format.md).
#pragma once

#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

/// Appends @p name with every character outside [A-Za-z0-9.-] as '-'.
inline void append_file_label(TextBuffer& out, const char* name)
{
    for (; *name != '\0'; ++name) {
        const char c = *name;
        const bool kept = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                          c == '.' || c == '-';
        out.bytes(kept ? &c : "-", 1);
    }
}

} // namespace hdtrace
