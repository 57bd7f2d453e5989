// row_counter.h - counts calls of which there are only sums.
#pragma once

#include <cstdint>

#include "hdtrace/analysis/counting.h"
#include "hdtrace/format/sums.h"

namespace hdtrace {

/// Adds sums over calls (format/sums.h) to others, as far as they are selected.
class RowCounter {
  public:
    /// @p knows_unfinished: sums over calls that had not ended tell all that others do. Both must outlive
    /// this.
    RowCounter(const Counting& counting, CallSums& sums, bool knows_unfinished)
        : m_counting(counting), m_sums(sums), m_knows_unfinished(knows_unfinished)
    {
    }

    /// Places have to be in ascending order.
    void count(const TraceFile& trace, const SummedCalls& row, const StatePlace& place);

    std::int64_t unfinished() const { return m_unfinished; }
    /// As SumsCounter::not_apart().
    std::int64_t not_apart() const { return m_not_apart; }

  private:
    CallSums::Key key_of(Grouping grouping, const Call& call, const SummedCalls& row,
                         const StatePlace& place);

    const Counting& m_counting;
    CallSums& m_sums;
    bool m_knows_unfinished;
    std::int64_t m_unfinished = 0;
    std::int64_t m_not_apart = 0;
};

} // namespace hdtrace
