// The command line of hdtrace-convert.
#pragma once

#include <string>

#include "hdtrace/tools/option_parser.h"
#include "merger/export/format.h"

namespace hdtrace::exporter {

struct CommandLine {
    const Format* format = nullptr;
    Options options;
    std::vector<std::string> inputs; ///< a project, or traces that were not merged yet
    bool quiet = false;
};

/// Throws UsageError.
tools::Request<CommandLine> parse_command_line(int argc, char** argv);

} // namespace hdtrace::exporter
