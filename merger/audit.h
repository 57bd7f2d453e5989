// Looks for what is missing or does not fit together in the traces of a project.
#pragma once

#include "merger/merged_project.h"
#include "merger/report.h"

#include <string>

namespace hdtrace::merger {

class InputReader;

struct AuditOptions {
    bool read_traces = true;
    bool close_traces = true; ///< those that are cut off; only if they are read
};

/// Warns about traces that readers of a project file at @p output will not find, and about lost states.
/// If it may, also reads all traces, warns about those that are cut off or refer to objects that are not
/// described, and closes the former. Nothing of this keeps the project from being written.
void audit(const MergedProject& project, const std::string& output, const AuditOptions& options,
           InputReader& reader, Report& report);

} // namespace hdtrace::merger
