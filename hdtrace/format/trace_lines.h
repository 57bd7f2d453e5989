// trace_lines.h - what lines of a trace are, as far as that is to be seen without reading XML.
#pragma once

#include <string_view>

namespace hdtrace::detail {

/// The end of a trace.
inline constexpr std::string_view closing = "</Program>";

std::string_view without_blanks_behind(std::string_view line);
bool is_blank(std::string_view line);
/// That of XML, as writers of traces begin with it.
bool is_declaration(std::string_view line);
/// An opening tag of a root, and nothing else.
bool is_opening_tag(std::string_view line);

} // namespace hdtrace::detail
