// The functions of the MPI library, past all wrappers.
#pragma once

#include "mpiwrapper/runtime/mpi_api.h"

namespace hdtrace::mpi {

struct RealFunctions
{
#define HDT_REAL(name) decltype(&::name) name;
#include "real_functions.inc"
#undef HDT_REAL
};

extern RealFunctions real;

/// Fills `real`. Cheap when that has been done; must come before the first use.
void resolve_real_functions();

} // namespace hdtrace::mpi
