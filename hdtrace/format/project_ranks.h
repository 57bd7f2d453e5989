// project_ranks.h - which process a rank in a trace is.
//
// A trace has ranks in the MPI_COMM_WORLD of its own process. Where a project has several worlds, its
// processes have other numbers, and this is the one place that turns ranks of traces into them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/state.h"

namespace hdtrace {

/// What the ranks in the traces of one process mean in the project. Any number of threads may ask.
class ProjectRanks {
  public:
    /// @p rank is that of the process in the project, which has several worlds.
    ProjectRanks(const Project& project, std::int64_t rank);
    /// What the other one's first() and foreign() are.
    ProjectRanks(std::int64_t first, std::vector<ForeignRanks::Run> foreign)
        : m_first(first), m_foreign(std::move(foreign))
    {
    }
    /// The rank in the project of rank 0 of the process's own world.
    std::int64_t first() const { return m_first; }
    const std::vector<ForeignRanks::Run>& foreign() const { return m_foreign; }

    /// The rank in the project of what stands in a trace; what is no rank stays as it is, and a process of
    /// another world that the project does not know is `other_world`.
    std::int64_t rank(std::int64_t in_trace) const;
    /// The same of a list of them, "1;2;8..15;"; as it is if it is none.
    std::string translated(std::string_view ranks) const;
    /// Translates all ranks that a call of MPI has.
    void translate(State& state) const;

  private:
    void translate_call(State& call) const;
    void translate(AttributeList& attributes, std::span<const std::string_view> names) const;

    std::int64_t m_first = 0;
    std::vector<ForeignRanks::Run> m_foreign;
};

} // namespace hdtrace
