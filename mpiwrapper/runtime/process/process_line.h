// The first line of the .info, which describes the process.
#pragma once

namespace hdtrace::mpi {

/// Writes it. @p thread_level is what MPI provides.
void describe_process(int thread_level);

} // namespace hdtrace::mpi
