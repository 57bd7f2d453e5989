// How a trace of the C API says where it belongs: in its files' names and first lines.
#pragma once

#include "hdtrace/writer/text_buffer.h"
#include "hdtrace/writer/topology.h"

namespace hdtrace {

/// The levels are Hostname, Rank and Thread, and the last two labels are numbers: as in a trace of an MPI
/// program.
bool is_mpi_place(const hdTopoNode& node);

/// The path of one of the trace's files.
void append_path(TextBuffer& out, const char* directory, const hdTopoNode& node, const char* suffix);
/// The attributes of the .trc's root.
void append_root_attributes(TextBuffer& out, const hdTopoNode& node);
/// The first line of the .info; @p base is the second that times count from.
void append_process_line(TextBuffer& out, const hdTopoNode& node, int64_t base);
/// The last line of the .info without its counts.
void append_end_line_start(TextBuffer& out, const hdTopoNode& node);

} // namespace hdtrace
