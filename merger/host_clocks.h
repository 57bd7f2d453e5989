// Compares the clocks of the hosts on which a program ran.
#pragma once

#include "merger/merged_project.h"
#include "merger/project_writer.h"
#include "merger/report.h"

namespace hdtrace::merger {

/// Reads all traces for it; nothing if all processes ran on one host. Project and options are those that will
/// be written.
void compare_clocks(MergedProject& project, const ProjectOptions& options, Report& report);

} // namespace hdtrace::merger
