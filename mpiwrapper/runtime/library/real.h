// The functions of the MPI library, past all wrappers.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

// What the MPI library has and its mpi.h hides.
#include "hidden_functions.inc"

namespace hdtrace::mpi {

struct RealFunctions {
#define HDT_REAL(name) decltype(&::name) name;
#include "real_functions.inc"
#undef HDT_REAL
};

extern RealFunctions real;

/// Fills `real`. Cheap when that has been done; must come before the first use.
void resolve_real_functions();

/// The file of the MPI library that the program uses, if it is not the one that we were built for; else null.
/// Its functions can be called, but their arguments mean something else. Owned by the dynamic linker.
const char* foreign_mpi_library();

} // namespace hdtrace::mpi
