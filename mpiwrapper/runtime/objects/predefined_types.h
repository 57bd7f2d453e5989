// The datatypes that MPI itself has.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace::mpi {

/// Whether MPI may be asked about a handle that a call was given which failed: of others nobody knows whether
/// they are valid.
bool is_predefined_type(MPI_Datatype handle);

} // namespace hdtrace::mpi
