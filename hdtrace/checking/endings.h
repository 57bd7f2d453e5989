// endings.h - how processes ended, and which traces are not whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hdtrace/analysis/fatal_signals.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/matching/rank_table.h"

namespace hdtrace {

/// Follows how far each process came, and knows at the end why one did not do what others waited for.
class Endings : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit Endings(Findings& findings) : m_findings(findings) {}

    void leave(const Call& call) override;

    /// A trace lacks calls, as @p text tells.
    void report_trace(FindingKind kind, std::int64_t rank, const std::string& file, std::int64_t line,
                      std::string text, const CallSite* site = nullptr);
    /// The reason for which the process is inside a call is told by another finding.
    void explain(std::int64_t rank) { m_explained.insert(rank); }
    /// The same if it is inside that call.
    void explain(const CallPlace& call);
    /// The same if it waits for that request.
    void explain_waiting(std::int64_t rank, std::int64_t rid);
    /// Whether the process was inside that call, or waited for that request, when its trace ended.
    bool is_inside(const CallPlace& call) const;
    bool waits_for(std::int64_t rank, std::int64_t rid) const;
    /// Whether the process ended in order, but too early; once all calls have been read. Such a process did
    /// not wait.
    bool ended_itself(std::int64_t rank) const;
    /// Another finding tells how the process ended, and with it all others.
    void set_cause(std::int64_t rank);

    /// All calls have been read.
    void set_read();
    /// The trace of a process that is not whole, if there is one: why it did not do something; -1 is any
    /// process. Else nothing.
    std::string reason_of(std::int64_t rank);
    /// The same of a process that might have gone on: not of one that waits for ever, as another finding
    /// tells.
    std::string reason_if_free(std::int64_t rank);
    /// Only if it is known of all of them.
    std::string reason_of(const std::set<std::int64_t>& ranks);
    /// Names processes that ended early, or inside a call for which there is no explanation.
    void finish();

  private:
    struct LastCall {
        CallPlace place = {};
        std::int64_t end = 0;
    };
    /// How far a process came.
    struct Progress {
        LastCall last;
        std::map<std::int64_t, LastCall> last_of; ///< by thread
        std::int64_t finalized = 0;               ///< when
        bool has_begun = false;
        bool has_ended = false;
        std::optional<CallPlace> abort;        ///< a call that ended all processes
        std::optional<CallPlace> abort_inside; ///< the same inside another one
        bool has_sessions = false;
    };
    struct Unfinished {
        CallPlace place;
        std::int64_t time; ///< when it began
        std::string text;
        std::vector<std::int64_t> requests; ///< that it waits for
    };

    using UnfinishedCalls = std::multimap<std::int64_t, Unfinished>; // by rank

    void forget_left(const Call& call);
    /// The call that the thread is in; of no thread there is none.
    UnfinishedCalls::const_iterator find_unfinished(std::int64_t rank,
                                                    std::optional<std::int64_t> thread) const;
    void check_outside(const Call& call, const Progress& progress, const CallPlace& place);
    template <class Predicate> bool has_unfinished(std::int64_t rank, Predicate is_it) const;
    bool ended_early(std::int64_t rank) const;
    bool left_nothing(std::int64_t rank) const;
    bool has_recorded_its_end(std::int64_t rank) const;
    const RunProcess* find_process(std::int64_t rank) const; ///< null if the project does not tell of it
    bool went_on_after(std::int64_t rank, const FatalSignal& signal) const;
    /// Null if it is not known which thread got the signal, or that has no calls.
    static const LastCall* last_of_thread(const Progress& progress, const FatalSignal& signal);
    LastMoments moments_of(std::int64_t rank, const Progress& progress) const;
    void find_signals();
    void report_abort(std::int64_t rank, const CallPlace& place);
    void report_signal(std::int64_t rank, const FatalSignal& signal);
    void report_followers();
    bool only_followed(std::int64_t rank) const;

    Findings& m_findings;
    RankTable<Progress> m_progress;
    UnfinishedCalls m_unfinished;
    std::map<std::int64_t, FatalSignal> m_signals; ///< that ended a process
    std::set<std::int64_t> m_explained;
    std::set<std::int64_t> m_causes;
    std::map<std::int64_t, std::string> m_not_whole; ///< of a process: a trace that lacks calls
    bool m_is_read = false;
};

} // namespace hdtrace
