// in_flight.h - what processes had begun together by a moment and not ended.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Finds the calls that ended before a moment, but without which nobody understands what comes then: they
/// started operations that were completed later, sent messages that were received later, or were a
/// collective call that others made later. With each comes what belongs to it otherwise: of a `Sendrecv` of
/// which the message is still on its way also the call that sent what it has received, and of an `Irecv` the
/// call that completed it, so that what is read from these calls on matches as it did in the run. Memory
/// grows with what is in flight.
class InFlight : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    InFlight(std::shared_ptr<const OpenedProject> project, std::int64_t moment);
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    /// Known at the end: where the calls stand in a trace.
    const std::set<std::int64_t>& lines_of(const TraceFile& trace) const;

  private:
    struct CallPlace {
        std::int64_t rank = 0;
        std::int64_t thread = 0;
        std::int64_t line = 0;
        auto operator<=>(const CallPlace&) const = default;
    };
    /// Calls that messages and collective operations connect.
    struct Connected {
        std::int64_t open = 0; ///< requests and messages that are not completed
        std::vector<CallPlace> calls;
    };

    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void add(const Message& message);
    void add(const Collective& collective);
    Connected& connected_with(const CallPlace& call);
    void connect(const CallPlace& call, const CallPlace& other);
    void close(const CallPlace& call, std::int64_t count = 1);
    void keep(const CallPlace& call);
    void finish();

    std::shared_ptr<const OpenedProject> m_project;
    std::int64_t m_moment;
    MergedTraces m_states;
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    EventWalk m_walk{{this, &m_messages, &m_collectives}};
    bool m_at_end = false;
    std::map<CallPlace, std::shared_ptr<Connected>> m_open;
    std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::int64_t>> m_lines; ///< by rank and thread
};

} // namespace hdtrace
