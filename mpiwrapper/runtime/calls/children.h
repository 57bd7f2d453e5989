// Processes that MPI_Comm_spawn starts.
#pragma once

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/objects/communicators.h"

namespace hdtrace::mpi {

/// The hints for MPI_Comm_spawn. With HDTRACE_FOLLOW=1 the root's also have the environment that lets the new
/// processes be traced, and what their parents call the communicator between them. The launcher starts them,
/// which does not have what hdtrace-run has set.
class InfosForChildren {
  public:
    /// @p given are significant on the root only. @p parent is null_comm if it is not known.
    InfosForChildren(const Comm& parent, int root, int count, const MPI_Info* given);
    InfosForChildren(const InfosForChildren&) = delete;
    InfosForChildren& operator=(const InfosForChildren&) = delete;
    ~InfosForChildren();

    const MPI_Info* get() const { return m_own != nullptr ? m_own : m_given; }

  private:
    const MPI_Info* m_given;
    MPI_Info* m_own = nullptr;
    int m_count = 0;
};

} // namespace hdtrace::mpi
