// The command line of hdtrace-convert.
#pragma once

#include <stdexcept>
#include <string>

#include "merger/export/format.h"

namespace hdtrace::exporter {

struct CommandLine {
    const Format* format = nullptr;
    Options options;
    std::string project;
    bool quiet = false;
    bool show_version = false;
};

/// The command line is wrong.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws UsageError. Answers --help itself and ends the program.
CommandLine parse_command_line(int argc, char** argv);

} // namespace hdtrace::exporter
