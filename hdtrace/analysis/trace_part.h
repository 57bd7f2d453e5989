// trace_part.h - a part of a trace as a trace of its own.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "hdtrace/analysis/opened_project.h"

namespace hdtrace {

/// Writes what is selected of a trace, in the order and with the numbers and times that it has there:
///
/// - states of the top level, whole, that are at least partly in the interval, and that have one of the names
///   or classes, or something inside them has;
/// - events of the program's own in the interval, whatever names and classes are selected;
/// - of what was before: the beginnings of regions that had not ended, the calls that prepared requests
///   (`Send_init`) that still existed, and the selected ones of those in the lines @p in_flight.
///
/// Memory grows with what is kept of the time before. The file @p path is made anew and is no trace before
/// this returns. Returns what the trace lacks that was cut off; the part lacks its end then, too. Throws
/// OpenError, ReadError, and tools::FileError.
std::string write_part(const Project& project, const TraceFile& trace, const Selection& selection,
                       const std::set<std::int64_t>& in_flight, const std::string& path);

} // namespace hdtrace
