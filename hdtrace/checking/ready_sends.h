// ready_sends.h - ready sends that may have come before their receives (MPI 4.1, 3.4).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"

namespace hdtrace {

/// A receive has surely begun only if the sender was told so, by messages or collective operations: else that
/// is chance, unless processes have several threads, of which the order does not know who told whom. Where
/// the clock of a host says that it had not, the program is wrong for certain.
class ReadySends {
  public:
    /// Both must outlive it.
    ReadySends(Findings& findings, CausalOrder& order);

    /// A message with both ends, before it is told to the order.
    void add(const Message& message);
    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    struct ReadySend {
        Moment send, receive; ///< when both began
        CallPlace sender, receiver;
        bool is_seen; ///< that the receive began later
    };

    Findings& m_findings;
    CausalOrder& m_order;
    std::map<std::int64_t, std::string> m_hosts; ///< by rank
    std::vector<ReadySend> m_sends;
};

} // namespace hdtrace
