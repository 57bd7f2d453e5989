// sends_during_receives.h - blocking sends of memory that a receive may write to which is not complete.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"

namespace hdtrace {

struct SendDuringReceive {
    CallPlace send, receive;
    std::int64_t receive_rid = -1;
    std::string text; ///< what is wrong
};

/// Nobody may read there (MPI 4.1, 3.7.2). But where the message that the receive got was only sent because
/// of that send, as by libraries that pass on sums along a tree, nothing can come of it: that is a warning.
class SendsDuringReceives {
  public:
    /// All must outlive it.
    SendsDuringReceives(const std::vector<SendDuringReceive>& sends, Findings& findings, CausalOrder& order);

    /// A message with both ends, before it is told to the order.
    void add(const Message& message);
    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>; // as in CausalOrder

    /// When the send began, and that of the message that the receive got.
    struct Moments {
        Moment send, received;
    };

    Findings& m_findings;
    CausalOrder& m_order;
    const std::vector<SendDuringReceive>& m_sends;
    std::vector<Moments> m_moments; ///< of each of them
    std::multimap<Key, std::size_t> m_by_send, m_by_receive;
};

} // namespace hdtrace
