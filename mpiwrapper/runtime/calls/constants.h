// Writes constants of mpi.h by name.
#pragma once

#include "hdtrace/writer/element.h"
#include "mpiwrapper/runtime/library/named_values.h"

#include <span>

namespace hdtrace::mpi {

/// Of a code that a call returned, or that stands in a status. Codes of the program's own are their class.
int error_class_of(int rc);
const char* error_class_name(int rc);
const char* op_name(MPI_Op op);
/// The name of a constant, or the number if it has none.
void put_name(Element& element, std::span<const NamedValue> names, int value);
/// A sum of constants, "CREATE|RDWR"; what has no name is a number, so that nothing is "0".
void put_names(Element& element, std::span<const NamedValue> names, int value);

} // namespace hdtrace::mpi
