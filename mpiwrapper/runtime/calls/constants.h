// Constants of mpi.h by name, since every MPI library has its own numbers.
#pragma once

#include "hdtrace/writer/element.h"
#include "mpiwrapper/runtime/library/mpi_api.h"

#include <span>

namespace hdtrace::mpi {

/// A constant of mpi.h, whose value depends on the library.
struct NamedValue {
    int value;
    const char* name;
};

#include "named_values.inc"

const char* error_class_name(int rc);
const char* op_name(MPI_Op op);
/// The name of a constant, or the number if it has none.
void put_name(Element& element, std::span<const NamedValue> names, int value);
/// A sum of constants, "CREATE|RDWR"; what has no name is a number, so that nothing is "0".
void put_names(Element& element, std::span<const NamedValue> names, int value);

} // namespace hdtrace::mpi
