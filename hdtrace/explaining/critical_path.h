// critical_path.h - the chain of calls and computation that makes the run as long as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/explaining/activities.h"

namespace hdtrace {

/// The critical path is in one thread for a time. Before its first call nothing is known of the process.
struct PathPart {
    std::uint32_t timeline = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// In the order of time: from the beginning of the first call of the run to the end of the last one. It
/// leaves a thread where that waited, and goes on where the call is that ended the waiting; and where the
/// thread began, in the process's first one.
std::vector<PathPart> find_critical_path(const History& history, const std::vector<WaitState>& waits);

struct PathActivity {
    Activity activity;
    std::int64_t time = 0; ///< on the path
    /// Of all processes, whether they are on the path or not; as long as what is before the first call, which
    /// is no less where others have more of it.
    double mean = 0;
    std::int64_t rank = 0; ///< which has the largest part of it on the path

    /// By how much the path would be shorter if all processes had the same part of it.
    double imbalance() const { return std::max(0.0, static_cast<double>(time) - mean); }
};

/// What is on the path, the longest first. Together it is as long as the path.
std::vector<PathActivity> profile_of(const std::vector<PathPart>& path, const History& history,
                                     const std::vector<WaitState>& waits);

} // namespace hdtrace
