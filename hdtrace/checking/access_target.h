// access_target.h - whose part of a window a one-sided access goes to.
#pragma once

#include <cstdint>

#include "hdtrace/format/element.h"

namespace hdtrace {

/// The rank in MPI_COMM_WORLD: what is got comes from there. -1 if the call does not tell.
inline std::int64_t target_of_access(const Element& call)
{
    return call.integer("toRank").value_or(call.integer("fromRank").value_or(-1));
}

} // namespace hdtrace
