// Counters of the kernel's perf events, of one thread.
#pragma once

#include "mpiwrapper/runtime/counters/values.h"

#include <stddef.h>

namespace hdtrace::mpi {

/// Its descriptors are high numbers that are closed on exec. Functions belong to the thread that opened it.
class PerfEvents {
  public:
    static constexpr size_t most = 48;

    PerfEvents() = default;
    ~PerfEvents() { close(); }
    PerfEvents(const PerfEvents&) = delete;
    PerfEvents& operator=(const PerfEvents&) = delete;

    /// Whether the kernel counts this one for the calling thread. Returns 0 or a value of errno.
    static int try_to_count(const SampledCounter& counter);

    /// Counts from now on for the calling thread. False if there are not enough descriptors; then it counts
    /// nothing.
    bool open(std::span<const SampledCounter* const> counters);
    /// Fills in the values of the counters that it was opened for, the first @p sample's.
    void read(const Sample& sample) const;
    void close();

  private:
    /// Those of a group are read at once. The processor may not have registers for all events in one.
    struct Event {
        int descriptor;
        bool is_leader; ///< the first of a group
        uint64_t id;    ///< the kernel's
        size_t counter; ///< which one it is
    };

    bool add(const SampledCounter& counter, size_t number, int& leader);
    void read_group(size_t first, size_t count, const Sample& sample) const;
    size_t group_size(size_t first) const;

    size_t m_count = 0;
    Event m_events[most];
};

} // namespace hdtrace::mpi
