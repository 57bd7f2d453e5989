// hdtrace-run --explain
#pragma once

#include "mpiwrapper/launcher/settings_file.h"

#include <string>

namespace hdtrace {

/// A line for each MPI function: what would be recorded of its calls, and why. @p all_functions is the
/// setting in force.
std::string explain(const SettingsFile& file, int all_functions);

} // namespace hdtrace
