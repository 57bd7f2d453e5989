// in_flight_reader.h - reads a project up to a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hdtrace/analysis/in_flight.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// Finds what is in flight at a moment. For one thread at a time.
class InFlightReader {
  public:
    /// @p moment: the last one that counts, in nanoseconds since the epoch; of one behind the end of the run
    /// that becomes the end. @p start: of an earlier one, from which on is read. Throws OpenError, ReadError.
    InFlightReader(std::shared_ptr<const OpenedProject> project, std::int64_t moment, Snapshot start = {});

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    const std::shared_ptr<const OpenedProject>& project() const { return m_project; }
    std::int64_t moment() const { return m_moment; }
    /// At the end: of the moment.
    InFlight& in_flight() { return m_in_flight; }
    const InFlight& in_flight() const { return m_in_flight; }
    /// At the end: the traces that were cut off before the moment.
    std::vector<MissingEnd> missing() const { return m_states.missing(); }

  private:
    std::int64_t end_of_run() const;

    std::shared_ptr<const OpenedProject> m_project;
    std::int64_t m_moment;
    std::int64_t m_last; ///< that anything was seen at
    MergedTraces m_states;
    InFlight m_in_flight;
    bool m_at_end = false;
};

} // namespace hdtrace
