// graph_edges.h - whether both ends of the edges of a graph describe them.
#pragma once

#include <cstdint>
#include <optional>

#include "hdtrace/matching/collectives.h"

namespace hdtrace {

/// An edge that its source names another number of times than its destination.
struct EdgeMismatch {
    const CollectiveCall* source = nullptr;
    const CollectiveCall* destination = nullptr;
    std::int64_t named_by_source = 0;
    std::int64_t named_by_destination = 0;
};

/// The first one of what all members have called: `Dist_graph_create_adjacent` (MPI 4.1, 8.5.4). Nothing
/// where the calls do not tell their neighbours.
std::optional<EdgeMismatch> find_edge_mismatch(const Collective& collective);

} // namespace hdtrace
