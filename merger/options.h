// The command line of project-merger.
#pragma once

#include <string>
#include <vector>

#include "hdtrace/tools/option_parser.h"
#include "merger/audit.h"
#include "merger/project_writer.h"
#include "merger/source_places.h"

namespace hdtrace::merger {

struct Options {
    std::string output;
    ProjectOptions project;
    bool large = false; ///< also a project that is mostly not described
    bool overwrite = false;
    bool quiet = false;
    AuditOptions audit;
    bool find_sources = true;
    bool compare_clocks = true;
    std::string debug_directory = default_debug_directory;
    std::vector<std::string> inputs;
};

/// Throws UsageError.
tools::Request<Options> parse_options(int argc, char** argv);

} // namespace hdtrace::merger
