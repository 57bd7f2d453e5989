// The command line of hdtrace-import.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hdtrace/tools/option_parser.h"
#include "merger/import/source.h"

namespace hdtrace::importer {

struct CommandLine {
    const Source* source = nullptr; ///< null: what the files are
    std::string output;
    std::vector<std::string> files;
    std::map<std::string, std::string, std::less<>> options; ///< of the source
    bool overwrite = false;
    bool quiet = false;
};

/// Throws UsageError.
tools::Request<CommandLine> parse_command_line(int argc, char** argv);

} // namespace hdtrace::importer
