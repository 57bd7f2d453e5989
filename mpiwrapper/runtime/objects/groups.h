// Groups that the program has: MPI may be asked about them before a call is given one.
#pragma once

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace::mpi {

/// The program got a handle of a group, perhaps one that it had. Thread-safe.
void got_group(MPI_Group group);
/// MPI_Group_free, wherever it is called. Thread-safe.
int free_group(MPI_Group* group);

/// The world ranks in a group that a call is given, for as long as the call lasts.
class GroupMembers {
  public:
    explicit GroupMembers(MPI_Group group) : m_group(group) {}

    /// Before the call: whether they are known now. MPI is asked only about a group that the program is known
    /// to have: about any other one it might end the program, and say another function's name than without
    /// the tracer.
    bool find();
    /// "1;2;3;" or "0..999;"; of a group that is none its name, which some libraries let pass.
    const char* text() const { return m_text.data(); }
    size_t size() const { return m_text.size(); }
    /// Once the call has succeeded: the group was one, or MPI_GROUP_NULL.
    void ask();

  private:
    void add_members();

    MPI_Group m_group;
    TextBuffer m_text;
    bool m_is_known = false;
};

} // namespace hdtrace::mpi
