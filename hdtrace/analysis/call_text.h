// call_text.h - calls as lines of text.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/format/traces.h"

namespace hdtrace {

/// One line with a state and what is nested in it, as in a trace with timeAdjustment='0', and whose it is.
std::string xml_line(const TraceFile& trace, const State& state);

/// A line for people, with the time in seconds after @p origin, how long it took and whose it is; what is
/// nested in it on lines before it, indented.
std::string text_lines(const TraceFile& trace, const State& state, std::int64_t origin);

} // namespace hdtrace
