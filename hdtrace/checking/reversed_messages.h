// reversed_messages.h - messages that seem to be received before they were sent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "hdtrace/checking/findings.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

/// Where the clocks of hosts were compared and what they say still cannot be true. Memory grows with the
/// pairs of hosts.
class ReversedMessages {
  public:
    /// @p findings must outlive it.
    explicit ReversedMessages(Findings& findings);

    /// Of a message with both ends.
    void add(const Message& message);
    void report();

  private:
    struct Between {
        CallPlace first; ///< of them by which it was received
        std::int64_t count = 0;
        std::int64_t most = 0; ///< nanoseconds
    };

    Findings& m_findings;
    std::map<std::int64_t, std::string> m_hosts;                            ///< by rank
    std::map<std::pair<std::string, std::string>, Between> m_between_hosts; ///< from and to
};

} // namespace hdtrace
