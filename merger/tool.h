// The command line tool, whoever reads its inputs.
#pragma once

#include "merger/input_reader.h"

namespace hdtrace::merger {

/// What main() does; returns the exit code. Answers --help itself and ends the program.
int run_tool(int argc, char** argv, InputReader& reader);

} // namespace hdtrace::merger
