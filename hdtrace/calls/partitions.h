// partitions.h - what is special about messages in partitions (MPI 4.1, 4.2).
#pragma once

#include "hdtrace/calls/calls.h"

namespace hdtrace {

/// MPI_Pready, MPI_Pready_range and MPI_Pready_list.
inline bool makes_partitions_ready(const CallFacts& facts)
{
    return facts.name.starts_with("Pready");
}

} // namespace hdtrace
