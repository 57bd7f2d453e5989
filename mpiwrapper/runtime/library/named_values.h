// Constants of mpi.h with their names, as the tables list them: every MPI library has its own numbers.
#pragma once

#include "hdtrace/writer/named_values.h"
#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace::mpi {

#include "named_values.inc"

} // namespace hdtrace::mpi
