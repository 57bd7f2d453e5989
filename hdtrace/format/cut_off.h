// cut_off.h - what is said about traces that were cut off.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/format/file.h"

namespace hdtrace::detail {

/// What a trace lacks that came to the end of @p lines after @p whole_lines of them. @p has_root: whether it
/// came to its root before.
std::string missing_end(const WholeLines& lines, std::int64_t whole_lines, bool has_root);

} // namespace hdtrace::detail
