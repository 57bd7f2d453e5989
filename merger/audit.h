// Looks for what is missing or does not fit together in the traces of a project.
#pragma once

#include "merger/merged_project.h"
#include "merger/report.h"

#include <string>

namespace hdtrace::merger {

class InputReader;

/// What is read of traces.
enum class Audited { nothing, ends, all };

struct AuditOptions {
    Audited traces = Audited::all;
    bool close_traces = true; ///< those that are cut off; only if something of them is read
};

/// Warns about traces that readers of a project file at @p output will not find, and about lost states.
/// If it may, also reads all traces, warns about those that are cut off or refer to objects that are not
/// described, and closes the former; of their ends only the former can be told. Nothing of this keeps the
/// project from being written.
void audit(const MergedProject& project, const std::string& output, const AuditOptions& options,
           InputReader& reader, Report& report);

} // namespace hdtrace::merger
