// sums_counter.h - counts the calls of a thread of which there are only sums.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/analysis/call_counter.h"
#include "hdtrace/format/sums.h"

namespace hdtrace {

/// Adds up the sums over the calls of one thread (format/sums.h), as far as they are selected.
class SumsCounter {
  public:
    /// Reads all of them. Throws OpenError, ReadError.
    SumsCounter(const Counting& counting, const TraceFile& trace);

    const CallSums& sums() const { return m_sums; }
    std::int64_t unfinished() const { return m_unfinished; }
    /// Calls of which only the name is known: they are in no group of a table that asks for more than call,
    /// class, rank and thread.
    std::int64_t not_apart() const { return m_not_apart; }
    /// What the file lacks if it was cut off, else empty.
    const std::string& missing() const { return m_missing; }

  private:
    void count(const TraceFile& trace, const SummedCalls& row, const Place& place);
    CallSums::Key key_of(Grouping grouping, const Call& call, const SummedCalls& row, const Place& place);

    const Counting& m_counting;
    CallSums m_sums{m_counting.tables};
    std::int64_t m_unfinished = 0;
    std::int64_t m_not_apart = 0;
    std::string m_missing;
};

} // namespace hdtrace
