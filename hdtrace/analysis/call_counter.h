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
#include "hdtrace/analysis/call_index.h"
#include "hdtrace/analysis/call_meter.h"
#include "hdtrace/analysis/counter_sums.h"
#include "hdtrace/analysis/row_counter.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Adds up the calls of one process and its regions, as far as they are selected.
class CallCounter : EventVisitor {
  public:
    /// @p counting must outlive this. Throws OpenError, ReadError.
    CallCounter(const Counting& counting, const ProcessTraces& process);
    /// Takes what it can from the index. read() may throw IndexError then.
    CallCounter(const Counting& counting, const ProcessTraces& process, CallIndex index);
    CallCounter(const CallCounter&) = delete;
    CallCounter& operator=(const CallCounter&) = delete;

    /// Reads up to so many states of the top level, or entries of the index, and says how many there were.
    /// Throws ReadError.
    std::size_t read(std::size_t states);

    const CallSums& sums() const { return m_sums; }
    const CounterSums& counters() const { return m_counters; }
    std::int64_t unfinished() const { return m_unfinished + m_rows.unfinished(); }
    std::int64_t begun_before() const { return m_begun_before; }
    const std::vector<MissingEnd>& missing() const { return m_missing; }

  private:
    void enter(const Call& call) override;
    void leave(const Call& call) override { count(call); }
    void mark(const Call& event) override;
    void count(const Call& call);
    bool read_state();
    bool read_indexed();
    void complete(const Call& call);
    bool is_selected(const Call& call);
    CallSums::Key key_of(Grouping grouping, const Call& call);

    /// A call that is counted when all is known that it moves.
    struct Awaiting {
        CallSums::Keys keys;
        Totals totals;
        std::size_t open = 0; ///< operations
    };

    bool await(const Call& call, const Totals& one);
    void add_moved(std::size_t awaiting, const Volume& more);
    void add_when_known(std::size_t awaiting);

    const Counting& m_counting;
    std::optional<MergedTraces> m_states; ///< without an index
    std::optional<IndexedCalls> m_indexed;
    bool m_is_counted = true; ///< what the walk tells
    CallMeter m_meter{m_counting.project->objects};
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    CallSums m_sums{m_counting.tables};
    RowCounter m_rows{m_counting, m_sums, true};
    CounterSums m_counters{m_counting.project->project.run};
    CallSums::Keys m_keys; ///< of the call that is counted
    std::vector<Awaiting> m_awaiting;
    std::vector<std::size_t> m_unused; ///< of them, to be used again
    Arrivals<std::size_t> m_arrivals;  ///< by their position
    StatePlace m_place;                ///< of the state that is read
    std::vector<MissingEnd> m_missing;
    std::int64_t m_unfinished = 0;
    std::int64_t m_begun_before = 0;
};

} // namespace hdtrace
