// The command line of project-merger.
#pragma once

#include "hdtrace/tools/command_line.h"
#include "merger/audit.h"
#include "merger/project_writer.h"

#include <string>
#include <vector>

namespace hdtrace::merger {

struct Options {
    std::string output;
    ProjectOptions project;
    bool overwrite = false;
    bool quiet = false;
    AuditOptions audit;
    bool show_version = false;
    std::vector<std::string> inputs;
};

/// Throws UsageError. Answers --help itself and ends the program.
Options parse_options(int argc, char** argv);

} // namespace hdtrace::merger
