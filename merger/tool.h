// The tool, whoever reads its inputs.
#pragma once

#include "merger/input_reader.h"

namespace hdtrace::merger {

/// What main() does; returns the exit code.
int run_merger(int argc, char** argv, InputReader& reader);

} // namespace hdtrace::merger
