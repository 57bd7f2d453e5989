// How names of programs and hosts stand in file names (docs/format.md).
#pragma once

#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

inline bool stays_in_file_label(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// Appends @p name with every character outside [A-Za-z0-9.-] as '-'.
inline void append_file_label(TextBuffer& out, const char* name)
{
    for (; *name != '\0'; ++name)
        out.bytes(stays_in_file_label(*name) ? name : "-", 1);
}

/// The same for what a file's name begins with. Commands would take a '-' there for an option: it is an 'x'.
inline void append_first_label(TextBuffer& out, const char* name)
{
    const bool looks_like_option = *name == '-' || (*name != '\0' && !stays_in_file_label(*name));
    if (looks_like_option)
        out.text("x");
    append_file_label(out, looks_like_option ? name + 1 : name);
}

} // namespace hdtrace
