// Messages that were found and not yet received.
#pragma once

#include "mpiwrapper/runtime/objects/communicators.h"

namespace hdtrace::mpi {

/// A message that MPI_Mprobe found and MPI_Mrecv has not yet received.
struct Message {
    const Comm* comm = &null_comm;
    int source = MPI_PROC_NULL;
    int tag = MPI_ANY_TAG;
    int64_t id = -1; ///< of this process; unlike the handle, no other message ever has it
};

/// The new message's id; -1 if there is nothing to receive, or no memory.
int64_t add_message(MPI_Message handle, Message message);

/// A message that is about to be received: its handle ends with that, unless the call fails before.
class MatchedMessage : public Message {
  public:
    /// @p handle may be null, as far as MPI is asked to say so.
    explicit MatchedMessage(const MPI_Message* handle);
    ~MatchedMessage();
    MatchedMessage(const MatchedMessage&) = delete;
    MatchedMessage& operator=(const MatchedMessage&) = delete;

  private:
    const MPI_Message* m_variable;
    MPI_Message m_handle = MPI_MESSAGE_NULL; ///< if it is known
};

} // namespace hdtrace::mpi
