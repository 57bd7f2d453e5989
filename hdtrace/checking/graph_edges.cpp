#include "hdtrace/checking/graph_edges.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

struct Count {
    std::int64_t by_source = 0;
    std::int64_t by_destination = 0;
};
using Edges = std::map<std::pair<std::int64_t, std::int64_t>, Count>; // by the ranks in the communicator

std::vector<std::int64_t> neighbours(const CollectiveCall& call, const AttributeName& list)
{
    return ranks_in(call.arguments->call.find(list).value_or(""), most_neighbours);
}

/// Whether the lists are there, and whole.
bool tells_neighbours(const CollectiveCall& call)
{
    if (!call.arguments)
        return false;
    const Element& element = call.arguments->call;
    return element.integer("indegree") == std::ssize(neighbours(call, "sources")) &&
           element.integer("outdegree") == std::ssize(neighbours(call, "destinations"));
}

} // namespace

std::optional<EdgeMismatch> find_edge_mismatch(const Collective& collective)
{
    if (!std::ranges::all_of(collective.calls, tells_neighbours))
        return std::nullopt;
    std::map<std::int64_t, const CollectiveCall*> calls; // by the same
    Edges edges;
    for (const CollectiveCall& call : collective.calls) {
        const Communicator::Member* const member = collective.communicator->member(call.rank);
        if (!member)
            return std::nullopt;
        calls[member->local] = &call;
        for (const std::int64_t destination : neighbours(call, "destinations"))
            ++edges[{member->local, destination}].by_source;
        for (const std::int64_t source : neighbours(call, "sources"))
            ++edges[{source, member->local}].by_destination;
    }
    for (const auto& [edge, count] : edges) {
        const auto source = calls.find(edge.first);
        const auto destination = calls.find(edge.second);
        if (count.by_source != count.by_destination && source != calls.end() && destination != calls.end())
            return EdgeMismatch{source->second, destination->second, count.by_source, count.by_destination};
    }
    return std::nullopt;
}

} // namespace hdtrace
