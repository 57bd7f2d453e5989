// The lines of the .info that say what was run, and how: by whom, with which command, settings and
// environment. What is the same in all processes of a program is told by its first one.
#pragma once

#include "hdtrace/writer/text_buffer.h"

namespace hdtrace::mpi {

/// Writes them. MPI is initialised.
void describe_run();

/// For tests: the lines that describe an environment, whose variables have a NUL each behind them.
void append_environment(TextBuffer& out, const char* variables, size_t size);
/// The arguments, which have a NUL each behind them, as a shell reads them.
void append_command(TextBuffer& out, const char* arguments, size_t size);

} // namespace hdtrace::mpi
