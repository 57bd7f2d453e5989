// counter_columns.h - values of the program's counters (docs/regions.md) as a table with one row for each.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/event_reader.h"

namespace hdtrace {

struct CounterColumns {
    Numbers<std::int32_t> rank, thread;
    Numbers<std::int64_t> time; ///< nanoseconds since the epoch
    Texts name;
    Numbers<double> value;
    OptionalNumbers integer; ///< the same exactly, of those that are written as one
    Texts unit;
    Texts region; ///< the innermost that the thread is in, as a path
    Numbers<std::int64_t> line;

    /// Calls @p see with the name and the column, one by one.
    template <class See> void for_each(See&& see)
    {
        see("rank", rank);
        see("thread", thread);
        see("time", time);
        see("name", name);
        see("value", value);
        see("integer", integer);
        see("unit", unit);
        see("region", region);
        see("line", line);
    }
};

/// Fills the columns in the order of EventReader.
class CounterTable {
  public:
    /// Throws OpenError, ReadError.
    CounterTable(std::shared_ptr<const OpenedProject> project, Selection selection);

    /// Adds the rows of up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);
    /// The columns so far, which are empty afterwards.
    CounterColumns take();

    std::vector<MissingEnd> missing() const { return m_events.missing(); }

  private:
    void add_row(const State& event);

    EventReader m_events;
    FactsByName m_definitions;
    TextIndex m_names, m_units;
    PathIndex m_paths;
    CounterColumns m_columns;
};

} // namespace hdtrace
