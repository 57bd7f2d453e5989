// The command line of project-merger.
#pragma once

#include "merger/audit.h"
#include "merger/project_writer.h"

#include <stdexcept>
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

/// The command line is wrong.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws UsageError. Answers --help itself and ends the program.
Options parse_options(int argc, char** argv);

} // namespace hdtrace::merger
