// Writes constants of mpi.h by name.
#pragma once

#include "mpiwrapper/runtime/library/named_values.h"

namespace hdtrace::mpi {

/// Of a code that a call returned, or that stands in a status. Codes of the program's own are their class.
int error_class_of(int rc);
const char* error_class_name(int rc);
const char* op_name(MPI_Op op);

} // namespace hdtrace::mpi
