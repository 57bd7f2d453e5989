// The .info of this process: whoever has something to describe writes lines to it.
#pragma once

#include "hdtrace/writer/info_writer.h"

namespace hdtrace::mpi {

/// Returns 0 or a value of errno. Must come before all that follows; may be repeated with another name.
int open_info(const char* path);
/// Adds whole lines, which describe what calls refer to. Thread-safe.
void write_info(const TextBuffer& lines);
/// No call will be written any more: such lines are not needed from now on.
void end_descriptions();
/// The file itself. Traces write it out before themselves, so that it has what they refer to.
InfoWriter& info_file();

} // namespace hdtrace::mpi
