// event_reader.h - marks or values of counters of the program's own, with the regions that they are in.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/regions.h"

namespace hdtrace {

/// Reads the events of one kind in the order of time; those inside a call by the time when that begins.
class EventReader {
  public:
    /// Throws OpenError, ReadError.
    EventReader(std::shared_ptr<const OpenedProject> project, Selection selection, EventKind kind);

    /// Tells of the events in up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states, const std::function<void(const State&)>& see);

    const OpenedProject& project() const { return *m_project; }
    /// Of the event that is told: its trace, and the innermost region that it is in.
    const TraceFile& trace() const { return m_states.trace(); }
    std::int32_t region() const { return m_regions.path(trace()); }
    const RegionPaths& regions() const { return m_regions.paths(); }
    std::vector<MissingEnd> missing() const { return m_states.missing(); }

  private:
    void add(const State& state, const std::function<void(const State&)>& see);

    std::shared_ptr<const OpenedProject> m_project;
    TimeInterval m_interval;
    EventKind m_kind;
    MergedTraces m_states;
    OpenRegions m_regions;
};

} // namespace hdtrace
