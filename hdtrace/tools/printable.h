// printable.h - text from files and names, as it may be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hdtrace::tools {

/// What would move the cursor, colour, hide or reorder text, or be no UTF-8 is written as in .info files: \n,
/// \r, \t, and \x1b for any other byte. For whatever is printed for people; JSON and XML have escapes of
/// their own.
std::string printable(std::string_view text);
/// The same for text of several lines, whose line feeds stay.
std::string printable_lines(std::string_view text);

} // namespace hdtrace::tools
