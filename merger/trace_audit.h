// Looks for what is missing or does not fit in one trace.
#pragma once

#include "merger/report.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hdtrace::merger {

/// What calls refer to.
enum Object { communicators, datatypes, files, windows, object_kinds };

/// One trace that is to be looked at.
struct TraceJob {
    std::string path;
    bool has_objects = false; ///< whether the process's objects are known
    bool may_close = false;
    bool only_end = false;                      ///< what is whole is not read from its beginning
    std::optional<std::int64_t> written_states; ///< as the process told when it closed the trace
    std::array<std::vector<std::int64_t>, object_kinds> known_ids; ///< ascending
};

/// Reads a trace, or only its end; warns if it is cut off, has other states than were written, or refers to
/// objects that are not described, and closes it in the first case, if it may and its process has ended.
void audit_trace(const TraceJob& job, Report& report);

/// Warns that there is no such trace.
void warn_of_missing_trace(const std::string& path, Report& report);

} // namespace hdtrace::merger
