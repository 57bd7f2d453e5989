// fatal_signals.h - whether a signal that should have ended a process did so.
#pragma once

#include <cstdint>
#include <map>

#include "hdtrace/format/run.h"

namespace hdtrace {

/// How far a process came by its calls, in nanoseconds since the epoch.
struct LastMoments {
    std::int64_t last = 0;                        ///< of all its threads
    std::map<std::int64_t, std::int64_t> last_of; ///< of each of them, by number
    std::int64_t finalized = 0;                   ///< when MPI_Finalize returned; 0: it did not

    void add(std::int64_t thread, std::int64_t moment);
};

/// Whether launchers and batch systems end processes so.
bool comes_from_outside(const FatalSignal& signal);

/// Whether the process went on behind it: a handler of the program may have seen to that. While such a
/// handler tells where a fault was, other threads go on.
bool survived(const LastMoments& moments, const FatalSignal& signal);

} // namespace hdtrace
