// What a call that is added up says of itself (recording/sums.h).
#pragma once

#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/process/identity.h"

namespace hdtrace::mpi {

/// What volume_by() asks for next to the figures: what the attributes of its state would say. Nothing takes
/// its address, so that it is in registers, as far as it is used at all.
struct Transfer {
    std::optional<int64_t> root_rank;
    std::optional<int64_t> bytes, received_bytes, transferred_bytes;
    std::optional<int64_t> sent_message, received_message;
    bool in_place = false;
    ListedParts sends, receives;
    int64_t partner_count = 1, member_count = 1;
    bool is_first = false;
    int64_t indegree = 1, outdegree = 1;
};

/// The same under the names of volume_by().
class TransferArguments {
  public:
    TransferArguments(const Figures& figures, const Transfer& transfer)
        : m_figures(figures), m_transfer(transfer)
    {
    }

    std::optional<int64_t> receiver() const { return m_figures.receiver; }
    std::optional<int64_t> sender() const { return m_figures.sender; }
    std::optional<int64_t> root() const { return m_transfer.root_rank; }
    std::optional<int64_t> size() const { return m_transfer.bytes; }
    std::optional<int64_t> received_size() const { return m_transfer.received_bytes; }
    std::optional<int64_t> transferred_size() const { return m_transfer.transferred_bytes; }
    std::optional<int64_t> message_sent() const { return m_transfer.sent_message; }
    std::optional<int64_t> message_received() const { return m_transfer.received_message; }
    bool is_in_place() const { return m_transfer.in_place; }
    const ListedParts& listed_sends() const { return m_transfer.sends; }
    const ListedParts& listed_receives() const { return m_transfer.receives; }
    int64_t rank() const { return this_process().rank; }
    int64_t partners() const { return m_transfer.partner_count; }
    int64_t members() const { return m_transfer.member_count; }
    bool is_first() const { return m_transfer.is_first; }
    int64_t indegree() const { return m_transfer.indegree; }
    int64_t outdegree() const { return m_transfer.outdegree; }

  private:
    const Figures& m_figures;
    const Transfer& m_transfer;
};

} // namespace hdtrace::mpi
