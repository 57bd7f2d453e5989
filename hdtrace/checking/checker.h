// checker.h - looks for what does not fit together in a project and its traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/checking/waiting_calls.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

struct Finding {
    /// Traces that are not whole: "missing", "cut-off", "unfinished"; what does not fit: "reference",
    /// "message", "request", "collective"; processes that can never go on: "deadlock".
    std::string kind;
    std::string file;
    std::int64_t line = 0; ///< 0 is unknown
    std::string text;
    std::string because;            ///< the file of the trace that is not whole, if that is why; else empty
    const CallSite* site = nullptr; ///< of the call, if it is known
    const CallSite* other_site = nullptr; ///< of the call that it differs from
};

/// Reads all traces of a project that exist once, in the order of time. Memory grows with the messages,
/// requests and collective operations in flight.
class Checker : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    explicit Checker(std::shared_ptr<const OpenedProject> project);
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// What so many calls show; at the end also what was never answered. Throws ReadError.
    std::vector<Finding> read(std::size_t calls);
    bool at_end() const { return m_at_end; }
    /// To which the sites of findings belong.
    const std::shared_ptr<const OpenedProject>& project() const { return m_project; }

  private:
    /// Where a call is.
    struct Place {
        std::int64_t rank;
        std::int64_t thread;
        std::int64_t line;
        const CallSite* site;
    };

    /// How far a process came.
    struct Progress {
        std::int64_t thread = 0; ///< of its last call
        std::int64_t line = 0;
        const CallSite* site = nullptr;
        bool has_begun = false;
        bool has_ended = false;
    };

    void leave(const Call& call) override;
    void check_references(const Call& call, const Element& element);
    void check_message(const Message& message);
    void check_collective(const Collective& collective);
    void report_absent(const Collective& collective, const std::string& where);
    void finish();
    void check_waiting();
    void report(std::string kind, const Place& place, std::string text, std::string because = {},
                const CallSite* other_site = nullptr);
    void report_trace(std::string kind, std::int64_t rank, const std::string& file, std::int64_t line,
                      std::string text, const CallSite* site = nullptr);
    void report_cut_off(const MissingEnd& end);
    void note_progress(const Call& call);
    bool ended_early(std::int64_t rank) const;
    std::string reason_of(std::int64_t rank);
    std::string reason_of(const std::set<std::int64_t>& ranks);

    std::shared_ptr<const OpenedProject> m_project;
    MergedTraces m_calls;
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    WaitingCalls m_waiting;
    EventWalk m_walk{this, &m_messages, &m_collectives, &m_waiting};
    std::vector<Finding> m_findings;
    std::map<std::int64_t, Progress> m_progress;     ///< by rank
    bool m_is_read = false;                          ///< all calls are known
    std::map<std::int64_t, std::string> m_not_whole; ///< of a process: a trace that lacks calls
    std::set<std::tuple<std::int64_t, ObjectKind, std::int64_t>> m_unknown; ///< rank, kind, id: told once
    std::set<const Communicator*> m_out_of_order; ///< what follows there says nothing
    bool m_at_end = false;
};

} // namespace hdtrace
