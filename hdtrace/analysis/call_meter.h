// call_meter.h - what each call of a process took and moved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hdtrace/analysis/call_sums.h"
#include "hdtrace/matching/volumes.h"

namespace hdtrace {

/// Has to be asked about every call and region that has ended, in the order of EventWalk. For one thread at a
/// time.
class CallMeter {
  public:
    /// @p objects must outlive this.
    explicit CallMeter(const ObjectTable& objects) : m_volumes(objects) {}

    /// As sums over this call only.
    Totals measure(const Call& call);
    /// What the call moves that was asked about last; nothing if it moves no data.
    const std::optional<Volume>& volume() const { return m_volume; }

    /// How much time calls and regions of the thread took, by their depth, that have ended since the last one
    /// above them did: what has to be known to go on in the middle of a trace.
    std::vector<std::int64_t>& inside(const TraceFile& trace) { return m_inside[thread_key(trace)]; }

  private:
    std::int64_t exclusive_time(const Call& call, std::int64_t time);

    Volumes m_volumes;
    std::optional<Volume> m_volume;
    std::map<std::int64_t, std::vector<std::int64_t>> m_inside; ///< by thread
    const TraceFile* m_last_trace = nullptr;
    std::vector<std::int64_t>* m_last_inside = nullptr; ///< that of the last trace
};

} // namespace hdtrace
