// The regions, marks and counters of a program that has no wrapper yet.
#pragma once

#include "mpiwrapper/runtime/regions/types.h"

namespace hdtrace::mpi {

/// What hdR_tracer() answers leads to this one from now on; null: nothing will be traced.
void lead_tracer_to(const hdTracer* tracer);

/// Loads the wrapper, if the program has an MPI library already.
void look_for_library();

} // namespace hdtrace::mpi
