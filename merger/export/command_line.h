// The command line of hdtrace-convert.
#pragma once

#include <string>

#include "merger/export/format.h"
#include "merger/glib_options.h"

namespace hdtrace::exporter {

struct CommandLine {
    const Format* format = nullptr;
    Options options;
    std::string project;
    bool quiet = false;
    bool show_version = false;
};

using merger::UsageError;

/// Throws UsageError. Answers --help itself and ends the program.
CommandLine parse_command_line(int argc, char** argv);

} // namespace hdtrace::exporter
