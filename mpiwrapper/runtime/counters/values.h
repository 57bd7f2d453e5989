// The values of counters while they are sampled.
#pragma once

#include "mpiwrapper/runtime/counters/table.h"

namespace hdtrace::mpi {

/// In the place of a value that nobody tells.
inline constexpr int64_t no_value = INT64_MIN;

/// Counters of one sampler, each with the place for its value: nanoseconds where it is a time.
struct Sample {
    std::span<const SampledCounter* const> counters;
    int64_t* values;
};

/// Fills in what getrusage() and clock_gettime() tell. These and the following are safe in signal handlers.
void read_usage(const Sample& sample);
/// Fills in what files of /proc tell.
void read_proc_files(const Sample& sample);

} // namespace hdtrace::mpi
