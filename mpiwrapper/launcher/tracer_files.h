// The libraries that are preloaded into programs: the installation has one for each MPI library that it was
// built for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hdtrace {

/// For programs of which it is not known before which MPI library they use.
std::string wrapper_for_any();
/// For the library that programs ask for by this name; empty if there is none.
std::string wrapper_for(const std::string& mpi_library);
/// The names of the MPI libraries that have a wrapper.
std::vector<std::string> traceable_libraries();

/// Whether a library with this name is an MPI library.
bool is_mpi_library(std::string_view name);

} // namespace hdtrace
