// mark_columns.h - what the program marked (docs/regions.md), as a table with one row for each mark.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/event_reader.h"
#include "hdtrace/analysis/site_columns.h"

namespace hdtrace {

struct MarkColumns {
    Numbers<std::int32_t> rank, thread;
    Numbers<std::int64_t> time; ///< nanoseconds since the epoch
    Texts name, text;
    SiteColumns site;
    Texts region; ///< the innermost that the thread is in, as a path
    Numbers<std::int64_t> line;

    /// Calls @p see with the name and the column, one by one.
    template <class See> void for_each(See&& see)
    {
        see("rank", rank);
        see("thread", thread);
        see("time", time);
        see("name", name);
        see("text", text);
        site.for_each(see);
        see("region", region);
        see("line", line);
    }
};

/// Fills the columns in the order of EventReader.
class MarkTable {
  public:
    /// Throws OpenError, ReadError.
    MarkTable(std::shared_ptr<const OpenedProject> project, Selection selection);

    /// Adds the rows of up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);
    /// The columns so far, which are empty afterwards.
    MarkColumns take();

    std::vector<MissingEnd> missing() const { return m_events.missing(); }

  private:
    void add_row(const State& event);

    EventReader m_events;
    TextIndex m_names, m_texts;
    SiteIndex m_sites;
    PathIndex m_paths;
    MarkColumns m_columns;
};

} // namespace hdtrace
