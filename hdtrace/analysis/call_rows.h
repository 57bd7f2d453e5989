// call_rows.h - the calls of one process as rows of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Numbers that not every row has; only those that are there need memory.
struct SparseNumbers {
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> missing; ///< of each row: 1 where there is none

    void push(std::optional<std::int64_t> value)
    {
        missing.push_back(!value);
        if (value)
            values.push_back(*value);
    }
};

/// Rows in the order in which calls ended, by the begin of their states of the top level. Codes are
/// positions in lists of the process or of the project; -1 where there is none.
struct CallRows {
    std::int32_t rank = -1;
    std::vector<std::int32_t> thread;
    std::vector<std::int32_t> name; ///< in names
    std::vector<std::int8_t> call_class;
    std::vector<std::int64_t> start, end, bytes, sent_bytes, recv_bytes, line;
    SparseNumbers peer, tag, recv_peer, recv_tag, root, offset, request;
    std::vector<std::int32_t> communicator, file, window, site; ///< in the project
    std::vector<std::int32_t> error;                            ///< in errors
    std::vector<std::int32_t> depth;
    std::vector<std::uint8_t> unfinished, nested;
    std::vector<std::int32_t> region; ///< in regions

    std::vector<std::string> names, errors, regions;
    std::vector<MissingEnd> missing;

    /// Of each state of the top level that has rows: when it began, or one before it if it goes back in time,
    /// and how many.
    std::vector<std::int64_t> times;
    std::vector<std::uint32_t> counts;
};

/// Makes the rows of one process.
class CallRowReader : EventVisitor {
  public:
    /// @p rows: what becomes a row of the states that are @p read. Throws OpenError, ReadError.
    CallRowReader(std::shared_ptr<const OpenedProject> project, const Selection& rows, const Selection& read,
                  const ProcessTraces& process);
    CallRowReader(const CallRowReader&) = delete;
    CallRowReader& operator=(const CallRowReader&) = delete;

    /// Reads up to so many states of the top level, and says how many there were. Throws ReadError.
    std::size_t read(std::size_t states);
    CallRows take();

  private:
    void leave(const Call& call) override { add_row(call); }
    void add_row(const Call& call);

    std::shared_ptr<const OpenedProject> m_project;
    Selection m_wanted;
    MergedTraces m_states;
    Volumes m_volumes{m_project->objects};
    Arrivals<std::size_t> m_arrivals; ///< by row
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    TextIndex m_names, m_errors;
    PathIndex m_regions;
    CallRows m_rows;
    std::int64_t m_time;
};

} // namespace hdtrace
