// The counters that the user wants and the system has.
#pragma once

#include "mpiwrapper/runtime/counters/values.h"

#include "hdtrace/writer/trace_writer.h"

#include <stddef.h>

namespace hdtrace::mpi {

/// Counters that are sampled together.
class CounterSet {
  public:
    static constexpr size_t most = 96;

    bool is_empty() const { return m_count == 0; }
    std::span<const SampledCounter* const> counters() const { return {m_counters, m_count}; }
    bool has(const SampledCounter& counter) const;
    bool has_source(bool (*is_it)(Source)) const;
    void add(const SampledCounter& counter);
    void remove(const SampledCounter& counter);

  private:
    size_t m_count = 0;
    const SampledCounter* m_counters[most];
};

/// Chooses what HDTRACE_COUNTERS names, tries what the system has of it, says what is wrong or missing, and
/// describes the rest in the .info. Once, in the thread that starts the trace. Counters of the node are left
/// out unless @p is_for_node.
void select_counters(bool is_for_node);

/// Those that each thread samples.
const CounterSet& thread_counters();
/// Those of the process and of the node.
const CounterSet& process_counters();

/// Writes the values that are known as events.
void write_sample(TraceWriter& writer, const Sample& sample, int64_t time);

} // namespace hdtrace::mpi
