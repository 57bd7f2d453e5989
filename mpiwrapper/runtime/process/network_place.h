// Where a host is in the network, as far as the system tells every user.
#pragma once

#include "hdtrace/writer/text_buffer.h"

namespace hdtrace::mpi {

/// Adds a `Place` line for each thing that tells it. @p root stands before /proc and /sys.
void append_network_place(TextBuffer& out, const char* host, const char* root);

} // namespace hdtrace::mpi
