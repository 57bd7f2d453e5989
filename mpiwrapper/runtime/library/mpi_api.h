// mpi.h without the C++ bindings that old versions of it bring along: they would need the C++ run-time
// library.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

// HDT_HAS_MPI_Session_init, if the library has it: its version does not tell.
#include "available_functions.inc"
