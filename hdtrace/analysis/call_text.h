// call_text.h - calls as lines of text.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/format/objects.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// One line with a state and what is nested in it, as in a trace with timeAdjustment='0', and whose it is.
std::string xml_line(const TraceFile& trace, const State& state);

/// A line for people, with the time in seconds after @p origin, how long it took, whose it is and where it
/// was called; what is nested in it on lines before it, indented.
std::string text_lines(const ObjectTable& objects, const TraceFile& trace, const State& state,
                       std::int64_t origin);

} // namespace hdtrace
