// Looks for what is missing or does not fit together in the traces of a project.
#pragma once

#include "merger/project.h"
#include "merger/report.h"

#include <string>

namespace hdtrace::merger {

/// Warns about traces that readers of a project file at @p output will not find, and about lost states.
/// With @p read_traces also reads all traces, and warns about those that are cut off or refer to objects
/// that are not described. Nothing of this keeps the project from being written.
void audit(const Project& project, const std::string& output, bool read_traces, Report& report);

} // namespace hdtrace::merger
