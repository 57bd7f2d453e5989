// phases.h - what a program does again and again, and which of the times took longer than others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hdtrace/explaining/history.h"

namespace hdtrace {

/// An iteration that took much longer than the typical one.
struct Outlier {
    std::size_t iteration = 0; ///< position in Phase::iterations
    double excess = 0;         ///< nanoseconds more than typical
    /// Whose computation took longer than it typically does, if that is at least half of the excess: else
    /// other ranks, or what is inside the calls, did.
    std::optional<std::int64_t> rank;
    double computation_excess = 0; ///< of that rank, in nanoseconds
};

/// How the times of iterations change, by a straight line through all but the outliers.
struct Drift {
    double first = 0; ///< nanoseconds, on the line
    double last = 0;
};

/// A part of a run in which all processes repeat the same sequence of calls: each of its places comes once
/// between two calls of each other one. An iteration ends when the last of them has ended.
struct Phase {
    struct Iteration {
        std::int64_t begin = 0; ///< of the first process, nanoseconds since the epoch
        double time = 0;        ///< nanoseconds, the mean of all processes
    };

    std::vector<std::uint32_t> places; ///< of the first process, in their order: positions in History::places
    std::vector<Iteration> iterations;
    std::int64_t begin = 0;        ///< when the first process begins the first one
    std::int64_t end = 0;          ///< when the last process ends the last one
    double typical = 0;            ///< nanoseconds: the median
    std::vector<Outlier> outliers; ///< by their iterations
    std::optional<Drift> drift;    ///< if it is more than chance
};

/// The phases of a run, the earliest and outermost first. Each has iterations in all processes, equally many,
/// and takes a tenth of the run or more; processes are judged by the thread with most steps. Takes time in
/// proportion to the calls; memory for four bytes for each call of one thread at a time, and for each
/// iteration in each process of one phase at a time.
std::vector<Phase> find_phases(const History& history);

} // namespace hdtrace
