// snapshots.h - what was in flight at moments of a run, as the indexes of its processes keep it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/in_flight.h"
#include "hdtrace/analysis/index_form.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// Reads all traces of a project once and keeps what was in flight at some moments: at first after so many
/// states each; when these have become too many, or too large for memory, every second one of them, after
/// twice as many states, and so on. For one thread at a time, but for of().
class SnapshotMaker {
  public:
    /// @p distance: in states of the top level, at first. Throws OpenError, ReadError.
    SnapshotMaker(const std::shared_ptr<const OpenedProject>& project, std::int64_t distance);

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    /// Once all is read: what an index keeps of one process. Any thread.
    std::vector<index_form::SnapshotText> of(const ProcessTraces& process) const;

  private:
    struct Texts {
        std::int64_t moment = 0;
        std::vector<std::string> of_process;
        std::size_t size = 0; ///< in bytes
    };
    struct Place {
        std::size_t process = 0, trace = 0;
    };

    void take(std::int64_t moment);
    void thin_out();

    MergedTraces m_states;
    InFlight m_in_flight;
    std::vector<Place> m_places;                    ///< of each trace
    std::map<std::string, std::size_t> m_processes; ///< by the path of the first trace
    std::int64_t m_distance;
    std::int64_t m_since_last = 0;
    std::int64_t m_last_time;
    std::vector<Texts> m_taken;
    std::size_t m_size = 0; ///< of all in bytes
};

/// The last one until the moment, if all processes have an index that belongs to their traces as they are.
std::optional<Snapshot> last_snapshot(const OpenedProject& project, std::int64_t moment);

} // namespace hdtrace
