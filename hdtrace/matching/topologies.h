// topologies.h - who the neighbours of a process on a communicator are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Follows the calls that give communicators a topology (MPI 4.1, 8), and those that copy it. Memory grows
/// with the members of such communicators and their neighbours. For one thread at a time.
class Topologies : public EventVisitor {
  public:
    /// @p objects must outlive it.
    explicit Topologies(const ObjectTable& objects) : m_objects(objects) {}

    /// The processes that give data to @p rank in a neighbourhood operation, some perhaps twice; none if the
    /// calls that were seen do not tell.
    std::vector<std::int64_t> sources(const Communicator& communicator, std::int64_t rank) const;

    void made(const Call& call, ObjectKind kind, std::int64_t id) override;

  private:
    using Nodes = std::vector<std::int64_t>;
    struct Dimension {
        std::int64_t size;
        bool is_periodic;
    };
    struct Topology {
        std::vector<Dimension> grid;           ///< of a grid; the last one varies fastest
        std::map<std::int64_t, Nodes> sources; ///< of a graph, by node
    };
    /// Ranks in the communicator, which are the nodes of its topology, and what these processes are called.
    struct Members {
        std::vector<std::int64_t> processes;
        std::unordered_map<std::int64_t, std::int64_t> nodes;
    };

    void add_grid(Topology& topology, const State& call);
    void add_rest_of_grid(Topology& topology, const Communicator& old, const State& call);
    void add_own_part(Topology& topology, std::int64_t node, const State& call);
    void add_edges(Topology& topology, const State& call);
    const Members& members_of(const Communicator& communicator) const;
    static Nodes neighbours_in(const std::vector<Dimension>& grid, std::int64_t node);

    const ObjectTable& m_objects;
    std::map<const Communicator*, std::shared_ptr<Topology>> m_topologies;
    mutable std::map<const Communicator*, Members> m_members;
};

} // namespace hdtrace
