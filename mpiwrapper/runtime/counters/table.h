// The counters that the tracer samples itself: what they are called, and where they come from.
#pragma once

#include <span>
#include <stdint.h>

namespace hdtrace::mpi {

/// Who tells the values. `code` is what the source knows a counter by.
enum class Source : uint8_t {
    // of the thread that asks
    thread_usage,  ///< getrusage(); the place of the member
    thread_clock,  ///< clock_gettime(); the clock
    perf_hardware, ///< perf_event_open(); the number of the event
    perf_cache,
    perf_software,
    papi, ///< the library PAPI, by name
    // of the process
    process_usage,
    process_clock,
    process_memory, ///< /proc/self/statm; the columns whose sum it is, as bits
    process_io,     ///< /proc/self/io; the same
    // of the node
    processors, ///< /proc/stat
    disks,      ///< /proc/diskstats
    network,    ///< /proc/net/dev
    memory,     ///< /proc/meminfo
};

constexpr bool is_of_thread(Source source)
{
    return source <= Source::papi;
}
constexpr bool is_of_node(Source source)
{
    return source >= Source::processors;
}
constexpr bool is_perf(Source source)
{
    return source >= Source::perf_hardware && source <= Source::perf_software;
}

/// Attributes of a counter.
enum : uint8_t {
    only_grows = 0,
    is_level = 1, ///< rises and falls
    in_kernel = 2 ///< of perf's: happens in the kernel; others are counted in user mode only
};

/// A row of the table.
struct SampledCounter {
    const char* name;
    /// "s": the source tells nanoseconds. Null: it has none.
    const char* unit;
    Source source;
    uint64_t code;
    const char* description;
    uint8_t attributes = only_grows;
    int64_t factor = 1;        ///< what the source counts in
    const char* key = nullptr; ///< the line of a file that it is in; null: all that count

    bool is_time() const { return unit != nullptr && unit[0] == 's' && unit[1] == '\0'; }
};

std::span<const SampledCounter> sampled_counters();

} // namespace hdtrace::mpi
