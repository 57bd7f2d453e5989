#include "hdtrace/checking/graph_edges.h"

#include <iterator>
#include <map>
#include <utility>

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

struct Count {
    std::int64_t by_source = 0;
    std::int64_t by_destination = 0;
};
using Edges = std::map<std::pair<std::int64_t, std::int64_t>, Count>; // by the ranks in the communicator

} // namespace

std::optional<EdgeMismatch> find_edge_mismatch(const Collective& collective)
{
    std::map<std::int64_t, const CollectiveCall*> calls; // by the ranks in the communicator
    Edges edges;
    for (const CollectiveCall& call : collective.calls) {
        const Communicator::Member* const member = collective.communicator->member(call.rank);
        if (!member || !call.arguments)
            return std::nullopt;
        const Element& told = call.arguments->call;
        const auto sources = numbers_in(told, "sources"), destinations = numbers_in(told, "destinations");
        if (told.integer("indegree") != std::ssize(sources) ||
            told.integer("outdegree") != std::ssize(destinations))
            return std::nullopt; // the lists are not there, or not whole
        calls[member->local] = &call;
        for (const std::int64_t destination : destinations)
            ++edges[{member->local, destination}].by_source;
        for (const std::int64_t source : sources)
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
