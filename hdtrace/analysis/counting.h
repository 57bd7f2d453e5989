// counting.h - what is counted of the calls of a project.
#pragma once

#include <memory>
#include <vector>

#include "hdtrace/analysis/call_sums.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// What is counted, for all processes.
struct Counting {
    std::shared_ptr<const OpenedProject> project;
    GroupLabels labels;
    std::vector<Groupings> tables;
    Selection rows; ///< of the states of a trace
    Selection read; ///< what has to be read for it
    bool counts_unfinished = false;
    bool with_counters = true;    ///< values of counters are wanted
    std::vector<Grouping> wanted; ///< those of the tables

    /// The group of a call, by what its state tells: not by its name, size and region.
    CallSums::Key key_of(Grouping grouping, const Call& call) const;
};

/// All the groupings that some of the tables ask for.
std::vector<Grouping> groupings_in(const std::vector<Groupings>& tables);

} // namespace hdtrace
