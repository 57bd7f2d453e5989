// The worlds of a run: each call of MPI_Comm_spawn starts processes with an MPI_COMM_WORLD of their own.
#pragma once

#include "merger/inputs.h"
#include "merger/process_info.h"
#include "merger/report.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hdtrace::merger {

struct World {
    std::string uid;
    /// Of its rank 0 in the project, where the ranks of a world follow those of the worlds before.
    std::int64_t first = 0;
    std::int64_t size = 0; ///< that its processes tell, or as many as there must be at least
    bool is_size_told = false;
};

/// The processes of one world after those of another: parents before those that they have started. The order
/// of a world's processes stays, and that of all if they are of one world. What a process does not tell is
/// told by those of its name, or by all others if they are of one world.
std::vector<InfoInput> by_world(std::vector<InfoInput> inputs);

/// The worlds as their processes come, which are sorted by_world().
class WorldSequence {
  public:
    explicit WorldSequence(Report& report) : m_report(report) {}

    /// A process of the current world or of the next one comes; both before any other question.
    void enter(const ProcessInfo& info, const std::string& world_of_input);
    /// False if the world is not so large.
    bool add_rank(std::int64_t rank_in_world);
    /// Whether the process is of the same run as the others. Of each other run one is reported.
    bool check_run(const ProcessInfo& info);
    /// Worlds that have nothing to do with each other are several programs. @p links are pairs of worlds that
    /// have a communicator in common.
    void check_links(const std::vector<std::pair<std::size_t, std::size_t>>& links);

    const World& current() const { return m_worlds.back(); }
    std::size_t number() const { return m_worlds.size() - 1; }
    const std::vector<World>& all() const { return m_worlds; }
    /// Of the first process that describes itself.
    std::optional<Place> first_place() const;

  private:
    bool check_launch(const ProcessLine& process);
    void report_other_run(const ProcessLine& process, const ProcessLine& first);

    Report& m_report;
    std::vector<World> m_worlds;
    std::vector<std::optional<ProcessLine>> m_firsts; ///< the first process of each world
    std::set<std::string> m_other_runs;               ///< that have been reported
};

} // namespace hdtrace::merger
