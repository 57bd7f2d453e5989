// Whose traces the inputs are: several runs may have left theirs in one directory.
#pragma once

#include "merger/inputs.h"

#include <cstddef>
#include <string>
#include <vector>

namespace hdtrace::merger {

/// What the launcher's names of all jobs that one command has started have in common.
std::string launch_of(const std::string& run);

struct Runs {
    /// The inputs of each run, by the launcher's name of it; runs without a name count as one
    /// as long as no rank is there twice.
    std::vector<std::vector<InfoInput>> all;
    /// .info files, or traces, of runs of which other files were replaced by those of a later one.
    std::vector<std::string> remains;
};

/// Keeps the order. Traces without .info go to the run of which the others with their name are.
Runs by_run(std::vector<InfoInput> inputs);

/// For people: the runs, one after the other.
std::string list_of(const Runs& runs);
void warn_of_remains(const Runs& runs, Report& report);

} // namespace hdtrace::merger
