// The first line of the .info, which describes the process.
#pragma once

#include <optional>

namespace hdtrace::mpi {

/// Writes it. @p thread_level is what MPI provides; before it is initialised nobody knows.
void describe_process(std::optional<int> thread_level);

} // namespace hdtrace::mpi
