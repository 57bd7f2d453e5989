/* cut_off.h - what is said about traces that were cut off. */
#pragma once

#include <string>

#include "hdtrace/reader/file.h"
#include "hdtrace/reader/xml_reader.h"

namespace hdtrace::detail {

/** What @p xml, which came to the end of @p lines, lacks there. @p has_root: whether it came to its root
 * before. */
std::string missing_end(const WholeLines& lines, const XmlReader& xml, bool has_root);

} // namespace hdtrace::detail
