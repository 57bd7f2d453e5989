// Counters of the library PAPI, of one thread.
#pragma once

#include "mpiwrapper/runtime/counters/values.h"

#include <stddef.h>

namespace hdtrace::mpi {

/// Loads the library. Returns null, or why that cannot be.
const char* load_papi();

/// Functions belong to the thread that opened it.
class PapiEvents {
  public:
    static constexpr size_t most = 32;
    static constexpr size_t prefix_length = sizeof "papi:" - 1; ///< of the names of its counters

    PapiEvents() = default;
    ~PapiEvents() { close(); }
    PapiEvents(const PapiEvents&) = delete;
    PapiEvents& operator=(const PapiEvents&) = delete;

    /// Whether this one can be counted for the calling thread. Returns null, or why not.
    static const char* try_to_count(const SampledCounter& counter);

    /// Counts from now on for the calling thread, what can be counted.
    void open(std::span<const SampledCounter* const> counters);
    /// Fills in the values of the counters that it was opened for, the first @p sample's.
    void read(const Sample& sample) const;
    void close();

  private:
    /// Those of a set are read at once. Each component of the library needs one of its own.
    struct Event {
        int set;
        size_t counter; ///< which one it is
    };

    void add(const SampledCounter& counter, size_t number);
    bool add_to_open_set(const char* name, size_t number);
    void insert(size_t place, Event event);
    size_t set_size(size_t first) const;

    size_t m_count = 0;
    Event m_events[most]; ///< those of a set beside each other, in the order in which it gives their values
};

} // namespace hdtrace::mpi
