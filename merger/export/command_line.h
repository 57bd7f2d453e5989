// The command line of hdtrace-convert.
#pragma once

#include <string>

#include "hdtrace/tools/command_line.h"
#include "merger/export/format.h"

namespace hdtrace::exporter {

struct CommandLine {
    const Format* format = nullptr;
    Options options;
    std::string project;
    bool quiet = false;
    bool show_version = false;
};

using tools::UsageError;

/// Throws UsageError. Answers --help itself and ends the program.
CommandLine parse_command_line(int argc, char** argv);

} // namespace hdtrace::exporter
