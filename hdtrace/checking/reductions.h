// reductions.h - which reduction operations MPI defines for which datatypes (MPI 4.1, 6.9.2).
#pragma once

#include <optional>
#include <string>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Why @p op cannot be used for the datatype; nothing if it can, or if that is not known. @p is_one_sided: by
/// MPI_Accumulate and the like. @p datatype may be null.
std::optional<std::string> why_not_defined(std::string_view op, const Datatype* datatype, bool is_one_sided);

} // namespace hdtrace
