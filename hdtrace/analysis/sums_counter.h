// sums_counter.h - counts the calls of a thread of which there are only sums.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/analysis/row_counter.h"

namespace hdtrace {

/// Adds up the sums over the calls of one thread (format/sums.h), as far as they are selected.
class SumsCounter {
  public:
    /// Reads all of them. Throws OpenError, ReadError.
    SumsCounter(const Counting& counting, const TraceFile& trace);

    const CallSums& sums() const { return m_sums; }
    std::int64_t unfinished() const { return m_rows.unfinished(); }
    /// Calls of which only the name is known: they are in no group of a table that asks for more than call,
    /// class, rank and thread.
    std::int64_t not_apart() const { return m_rows.not_apart(); }
    /// What the file lacks if it was cut off, else empty.
    const std::string& missing() const { return m_missing; }

  private:
    CallSums m_sums;
    RowCounter m_rows;
    std::string m_missing;
};

} // namespace hdtrace
