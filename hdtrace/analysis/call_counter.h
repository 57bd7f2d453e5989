// call_counter.h - counts the calls of one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/call_sums.h"
#include "hdtrace/analysis/counter_sums.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What is counted, for all processes.
struct Counting {
    std::shared_ptr<const OpenedProject> project;
    GroupLabels labels;
    std::vector<Groupings> tables;
    Selection rows; ///< of the states of a trace
    Selection read; ///< what has to be read for it
    bool counts_unfinished = false;
    std::vector<Grouping> wanted; ///< those of the tables

    /// The group of a call, by what its state tells: not by its name, size and region.
    CallSums::Key key_of(Grouping grouping, const Call& call) const;
};

/// All the groupings that some of the tables ask for.
std::vector<Grouping> groupings_in(const std::vector<Groupings>& tables);

/// Adds up the calls of one process and its regions, as far as they are selected.
class CallCounter : EventVisitor {
  public:
    /// @p counting must outlive this. Throws OpenError, ReadError.
    CallCounter(const Counting& counting, const ProcessTraces& process);
    CallCounter(const CallCounter&) = delete;
    CallCounter& operator=(const CallCounter&) = delete;

    /// Reads up to so many states of the top level, and says how many there were. Throws ReadError.
    std::size_t read(std::size_t states);

    const CallSums& sums() const { return m_sums; }
    const CounterSums& counters() const { return m_counters; }
    std::int64_t unfinished() const { return m_unfinished; }
    std::int64_t begun_before() const { return m_begun_before; }
    const std::vector<MissingEnd>& missing() const { return m_states.missing(); }

  private:
    void enter(const Call& call) override;
    void leave(const Call& call) override { count(call); }
    void mark(const Call& event) override;
    void count(const Call& call);
    bool is_selected(const Call& call);
    std::int64_t exclusive_time(const Call& call, std::int64_t time);
    CallSums::Key key_of(Grouping grouping, const Call& call);

    /// A call that is counted when all is known that it moves.
    struct Awaiting {
        CallSums::Keys keys;
        Totals totals;
        std::size_t open = 0; ///< operations
    };

    void add_moved(Awaiting& call, const Volume& more);
    void add_when_known(Awaiting& call);

    const Counting& m_counting;
    MergedTraces m_states;
    Volumes m_volumes{m_counting.project->objects};
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    CallSums m_sums{m_counting.tables};
    CounterSums m_counters{m_counting.project->project.run};
    CallSums::Keys m_keys;          ///< of the call that is counted
    std::optional<Volume> m_volume; ///< of that call
    Arrivals<std::shared_ptr<Awaiting>> m_arrivals;
    Place m_place; ///< of the state that is read
    /// Of each thread: how much time the calls and regions took, by their depth, that have ended since the
    /// last one above them did.
    std::map<std::int64_t, std::vector<std::int64_t>> m_inside;
    const TraceFile* m_last_trace = nullptr;
    std::vector<std::int64_t>* m_last_inside = nullptr; ///< that of the last trace
    std::int64_t m_unfinished = 0;
    std::int64_t m_begun_before = 0;
};

} // namespace hdtrace
