// overlays.h - what a timeline shows above calls: waiting, the critical path, collective operations.
#pragma once

#include <vector>

#include "hdtrace/explaining/critical_path.h"
#include "hdtrace/explaining/wait_states.h"
#include "hdtrace/report/packed.h"

namespace hdtrace::report {

/// Calls @p see with the wait state, and when it begins and ends: those of a call follow each other.
template <class See>
void for_each_wait(const History& history, const std::vector<WaitState>& waits, See&& see)
{
    StepId call;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (i == 0 || waits[i].call != call) {
            call = waits[i].call;
            begin = history.step(call).begin;
        }
        see(waits[i], begin, begin + waits[i].time);
        begin += waits[i].time;
    }
}

/// Of one timeline: how many, then of each its kind, begin, duration, and the timeline of the cause plus one.
/// @p origin: when the history begins, which takes long to find out.
Packed pack_waits(const History& history, const std::vector<WaitState>& waits, std::size_t timeline,
                  std::int64_t origin);

/// How many parts, then of each its timeline, begin and duration.
Packed pack_path(const History& history, const std::vector<PathPart>& path);

/// How many, then of each its kind, the name of the call as a number in @p names, its communicator plus one,
/// when the first and the last member came and the last one left, and which timeline came last.
Packed pack_gatherings(const History& history, std::vector<std::string_view>& names);

} // namespace hdtrace::report
