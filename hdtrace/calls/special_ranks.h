// special_ranks.h - what stands in a trace for a rank or a tag that is none (docs/format.md).
#pragma once

#include <cstdint>

namespace hdtrace {

constexpr std::int64_t any_rank = -1;    ///< MPI_ANY_SOURCE
constexpr std::int64_t any_tag = -1;     ///< MPI_ANY_TAG
constexpr std::int64_t proc_null = -2;   ///< MPI_PROC_NULL
constexpr std::int64_t mpi_root = -3;    ///< MPI_ROOT
constexpr std::int64_t other_world = -4; ///< a process of another world

} // namespace hdtrace
