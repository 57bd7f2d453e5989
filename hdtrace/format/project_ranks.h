// project_ranks.h - which process a rank in a trace is.
//
// A trace has ranks in the MPI_COMM_WORLD of its own process. Where a project has several worlds, its
// processes have other numbers, and this is the one place that turns ranks of traces into them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/state.h"

namespace hdtrace {

/// What the ranks in the traces of one process mean in the project. Any number of threads may ask.
class ProjectRanks {
  public:
    /// @p rank is that of the process in the project, which has several worlds.
    ProjectRanks(const Project& project, std::int64_t rank);

    /// The rank in the project of what stands in a trace; what is no rank stays as it is, and a process of
    /// another world that the project does not know is `other_world`.
    std::int64_t rank(std::int64_t in_trace) const;
    /// Translates all ranks that a call of MPI has.
    void translate(State& state) const;

  private:
    void translate_call(State& call) const;
    void translate(AttributeList& attributes, std::span<const std::string_view> names) const;
    std::string translated(std::string_view ranks) const;

    std::int64_t m_first = 0;
    std::vector<ForeignRanks::Run> m_foreign;
};

} // namespace hdtrace
