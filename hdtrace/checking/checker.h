// checker.h - looks for what does not fit together in a project and its traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/checking/buffer_check.h"
#include "hdtrace/checking/buffering_check.h"
#include "hdtrace/checking/call_checks.h"
#include "hdtrace/checking/collective_calls.h"
#include "hdtrace/checking/endings.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/message_check.h"
#include "hdtrace/checking/races.h"
#include "hdtrace/checking/request_check.h"
#include "hdtrace/checking/reversed_messages.h"
#include "hdtrace/checking/waiting_calls.h"
#include "hdtrace/checking/window_check.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/format/read_ahead.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

/// Reads all traces of a project that exist once, in the order of time, for all checks. Memory grows with the
/// messages, requests and collective operations in flight, and with the objects that exist.
class Checker : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    explicit Checker(std::shared_ptr<const OpenedProject> project);
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// What so many calls show; at the end also what was never answered. Throws ReadError.
    std::vector<Finding> read(std::size_t calls);
    bool at_end() const { return m_at_end; }
    /// Processes ran when the project was made: what the run left open is not told.
    bool goes_on() const { return m_goes_on; }
    /// Of which kinds there may be more: the run is too large for all to be compared. Known at the end.
    const std::set<FindingKind>& incomplete() const { return m_findings.incomplete(); }
    /// How many were looked at, with those inside others.
    std::uint64_t calls() const { return m_walk.calls(); }
    /// The traces that may be other than their schema says behind their root. Known at the end.
    std::vector<std::string> doubtful_traces() const { return m_calls.with_odd_lines(); }
    /// To which the sites of findings belong.
    const std::shared_ptr<const OpenedProject>& project() const { return m_project; }

  private:
    void leave(const Call& call) override;
    void take(CallChecks::Found found);
    void check_message(const Message& message);
    void report_cut_off(const MissingEnd& end);
    void finish();
    void check_waiting(const std::vector<OperationPointer>& pending);

    std::shared_ptr<const OpenedProject> m_project;
    LeftOut m_left_out;
    bool m_goes_on; ///< processes ran when the project was made
    Findings m_findings;
    CallChecks m_call_checks; ///< in the thread that reads
    ReadAhead m_calls;
    Endings m_endings{m_findings};
    std::set<std::int64_t> m_refused; ///< ended inside a call whose arguments are why
    WindowCheck m_windows{m_findings, m_endings};
    RequestCheck m_requests{m_findings, m_endings};
    BufferCheck m_buffers{m_findings};
    BufferingCheck m_buffering{m_findings};
    MessageCheck m_message_check{m_findings, m_endings};
    ReversedMessages m_reversed_messages{m_findings};
    CollectiveCheck m_collective_check{m_findings, m_endings};
    RaceSigns m_race_signs{m_findings.objects()};
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    WaitingCalls m_waiting;
    EventWalk m_walk{&m_endings,  &m_windows,     &m_requests, &m_buffers,    &m_buffering,
                     &m_messages, &m_collectives, &m_waiting,  &m_race_signs, this};
    bool m_at_end = false;
};

} // namespace hdtrace
