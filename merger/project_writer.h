// Writes a project as XML (docs/format.md).
#pragma once

#include "merger/merged_project.h"

#include <string>

namespace hdtrace::merger {

struct ProjectOptions {
    std::string path; ///< where the project will be
    std::string description;
    /// For the simulator; the trace does not know how files are distributed over servers.
    std::string distribution_class = "de.hd.pvs.piosim.model.inputOutput.distribution.SimpleStripe";
    std::string chunk_size = "64K";
};

/// Writes to @p file, which is not closed. Throws std::system_error if that fails, std::invalid_argument if
/// the project cannot be written in the form asked for.
void write_project(const MergedProject& project, const ProjectOptions& options, int file);

} // namespace hdtrace::merger
