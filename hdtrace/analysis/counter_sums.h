// counter_sums.h - what became of the values of the program's counters (docs/regions.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hdtrace/format/run.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

struct CounterValue {
    double number = 0;
    std::optional<std::int64_t> integer; ///< the same exactly, if it is one
};

/// The values of one counter as one process tells them; as one thread does if the counter is of threads.
struct CounterSum {
    std::string name;
    const Element* definition = nullptr; ///< `Counter` of the project's run; null if that has none
    std::int64_t rank = 0;
    std::optional<std::int64_t> thread;
    std::int64_t count = 0;
    CounterValue first, last;
    CounterValue minimum, maximum; ///< of values that are numbers
    CounterValue sum;              ///< has no integer where that would need more than 64 bits

    double mean() const { return sum.number / static_cast<double>(count); }
    /// Whether values are quantities by themselves, each of its moment only.
    bool has_sum() const;
};

class CounterSums {
  public:
    /// @p run must outlive this.
    explicit CounterSums(const Run& run) : m_definitions(run, "Counter") {}

    /// Those of a trace in the order of time.
    void add(const TraceFile& trace, const State& event);
    /// Those of other processes.
    void merge(const CounterSums& others) { m_sums.insert(others.m_sums.begin(), others.m_sums.end()); }
    /// By name, rank and thread.
    std::vector<CounterSum> sums() const;

  private:
    using Key = std::tuple<std::string, std::int64_t, std::optional<std::int64_t>>;

    FactsByName m_definitions;
    std::map<Key, CounterSum> m_sums;
};

} // namespace hdtrace
