// How often the program called each function, and how many of the calls the trace leaves out.
#pragma once

#include "mpiwrapper/runtime/recording/state.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// Of one thread, or of several that have ended.
class CallCounts {
  public:
    void add(Function function, Recording recording)
    {
        ++m_counts[static_cast<size_t>(function)][static_cast<size_t>(recording) & 1];
    }
    /// One that was added as recorded is left out.
    void leave_out(Function function);
    /// One that was added as recorded only found out that nothing has happened, and took so long.
    void leave_out_poll(Function function, int64_t nanoseconds);
    /// How many of these there were since the last time; 0 again then.
    int64_t take_polls(Function function);
    /// How long a call took that is left out.
    void add_time(Function function, int64_t nanoseconds);
    /// Adds those of a thread, which has none then.
    void take(CallCounts& others);
    /// Writes a line of the .info for each function that was called. Safe in signal handlers.
    void describe() const;

  private:
    struct More {
        int64_t polls = 0; ///< left out, and not told yet
        int64_t time = 0;  ///< of calls that are left out
    };

    uint64_t m_counts[function_count][2] = {}; ///< left out, recorded
    More m_more[function_count];
};

} // namespace hdtrace::mpi
