// How the wrapper's functions come into sight of the program.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

/// What the program and its libraries must be able to call.
#define HDT_EXPORT __attribute__((visibility("default")))
/// Gives the wrapper its second name. Programs and Fortran bindings call MPI under either.
#define HDT_WRAPS(name) extern "C" HDT_EXPORT decltype(::name) P##name __attribute__((alias(#name)))
