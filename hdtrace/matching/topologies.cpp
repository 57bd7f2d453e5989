#include "hdtrace/matching/topologies.h"

#include <algorithm>

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {

void Topologies::made(const Call& call, ObjectKind, std::int64_t)
{
    const TopologyKind kind = call.facts.topology;
    if (kind == TopologyKind::none)
        return;
    const std::int64_t rank = call.trace.rank;
    const Communicator* const old = m_objects.communicator(rank, call.state);
    const Communicator* const communicator = m_objects.communicator(rank, call.state, call.facts.made_id);
    if (!old || !communicator)
        return;
    if (kind == TopologyKind::copied) {
        if (const auto found = m_topologies.find(old); found != m_topologies.end())
            m_topologies.emplace(communicator, found->second);
        return;
    }
    std::shared_ptr<Topology>& topology = m_topologies[communicator];
    const bool is_first = !topology; // all members say the same of a grid
    if (is_first)
        topology = std::make_shared<Topology>();
    if (kind == TopologyKind::cartesian && is_first) {
        add_grid(*topology, call.state);
    } else if (kind == TopologyKind::subgrid && is_first) {
        add_rest_of_grid(*topology, *old, call.state);
    } else if (kind == TopologyKind::distributed) {
        add_edges(*topology, call.state);
    } else if (kind == TopologyKind::graph || kind == TopologyKind::adjacent) {
        const Members& members = members_of(*old);
        if (const auto node = members.nodes.find(rank); node != members.nodes.end())
            add_own_part(*topology, node->second, call.state);
    }
}

void Topologies::add_grid(Topology& topology, const State& call)
{
    const std::vector<std::int64_t> sizes = numbers_in(call, "dims");
    const std::vector<std::int64_t> periods = numbers_in(call, "periods");
    for (std::size_t i = 0; i < std::min(sizes.size(), periods.size()); ++i)
        topology.grid.push_back({sizes[i], periods[i] != 0});
}

void Topologies::add_rest_of_grid(Topology& topology, const Communicator& old, const State& call)
{
    const auto found = m_topologies.find(&old);
    if (found == m_topologies.end())
        return;
    const std::vector<Dimension>& grid = found->second->grid;
    const std::vector<std::int64_t> remain = numbers_in(call, "remainDims");
    for (std::size_t i = 0; i < std::min(grid.size(), remain.size()); ++i)
        if (remain[i] != 0)
            topology.grid.push_back(grid[i]);
}

void Topologies::add_own_part(Topology& topology, std::int64_t node, const State& call)
{
    if (call.has("sources")) {
        topology.sources[node] = numbers_in(call, "sources");
        return;
    }
    const std::vector<std::int64_t> ends = numbers_in(call, "index");
    const std::vector<std::int64_t> edges = numbers_in(call, "edges");
    if (node >= std::ssize(ends))
        return;
    const std::int64_t begin = node > 0 ? ends[node - 1] : 0;
    const std::int64_t end = std::min(ends[node], std::ssize(edges));
    for (std::int64_t i = begin; i < end; ++i)
        topology.sources[node].push_back(edges[i]);
}

void Topologies::add_edges(Topology& topology, const State& call)
{
    const std::vector<std::int64_t> sources = numbers_in(call, "sources");
    const std::vector<std::int64_t> degrees = numbers_in(call, "degrees");
    const std::vector<std::int64_t> destinations = numbers_in(call, "destinations");
    auto destination = destinations.begin();
    for (std::size_t i = 0; i < std::min(sources.size(), degrees.size()); ++i)
        for (std::int64_t k = 0; k < degrees[i] && destination != destinations.end(); ++k)
            topology.sources[*destination++].push_back(sources[i]);
}

const Topologies::Members& Topologies::members_of(const Communicator& communicator) const
{
    const auto [found, is_new] = m_members.try_emplace(&communicator);
    Members& members = found->second;
    if (is_new) {
        members.processes.assign(communicator.members.size(), -1);
        for (const Communicator::Member& member : communicator.members) {
            if (member.local >= 0 && member.local < std::ssize(members.processes))
                members.processes[member.local] = member.global;
            members.nodes[member.global] = member.local;
        }
    }
    return members;
}

Topologies::Nodes Topologies::neighbours_in(const std::vector<Dimension>& grid, std::int64_t node)
{
    Nodes neighbours;
    std::int64_t stride = 1;
    for (std::size_t i = grid.size(); i-- > 0;) {
        const auto [size, is_periodic] = grid[i];
        if (size <= 0 || stride > most_neighbours)
            return {};
        const std::int64_t place = node / stride % size;
        for (const std::int64_t step : {-1, 1}) {
            const std::int64_t next = place + step;
            if (is_periodic || (next >= 0 && next < size))
                neighbours.push_back(node + ((next + size) % size - place) * stride);
        }
        stride *= size;
    }
    return neighbours;
}

std::vector<std::int64_t> Topologies::sources(const Communicator& communicator, std::int64_t rank) const
{
    const auto found = m_topologies.find(&communicator);
    if (found == m_topologies.end())
        return {};
    const Members& members = members_of(communicator);
    const auto node = members.nodes.find(rank);
    if (node == members.nodes.end())
        return {};
    const Topology& topology = *found->second;
    Nodes nodes = neighbours_in(topology.grid, node->second);
    if (const auto own = topology.sources.find(node->second); own != topology.sources.end())
        nodes = own->second;
    std::vector<std::int64_t> processes;
    for (const std::int64_t one : nodes)
        if (one >= 0 && one < std::ssize(members.processes) && members.processes[one] >= 0)
            processes.push_back(members.processes[one]);
    return processes;
}

} // namespace hdtrace
