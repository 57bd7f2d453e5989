// The settings file (docs/rules.md) inside a process.
#pragma once

#include "hdtrace/settings/rules.h"

namespace hdtrace::mpi {

/// Reads the file that the environment names, if it names one, and sets what it says. Says what is wrong with
/// it.
void read_config_file();

/// The rules in the file, in its order.
std::span<const Rule> rules_of_file();

/// The options that the file sets: a bit for each, by its position in the table.
uint64_t options_of_file();

} // namespace hdtrace::mpi
