// printf for text that other programs read.
#pragma once

#include "hdtrace/writer/text_buffer.h"

#include <stdarg.h>

namespace hdtrace {

/// Appends to @p out; numbers have a decimal point and no groups whatever the program's locale is, wide
/// characters become UTF-8. Returns 0 or a value of errno, and then appends nothing.
int append_format(TextBuffer& out, const char* format, va_list arguments);

} // namespace hdtrace
