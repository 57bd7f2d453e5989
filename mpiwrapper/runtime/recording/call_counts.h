// How often the program called each function, and how many of the calls the trace leaves out.
#pragma once

#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/recording/state.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// The functions that have wrappers.
enum class Function : uint16_t {
#define HDT_WRAPPED(name) name,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
    count
};

/// Of one thread, or of several that have ended.
class CallCounts {
  public:
    void add(Function function, Recording recording)
    {
        ++m_counts[static_cast<size_t>(function)][static_cast<size_t>(recording) & 1];
    }
    /// Adds those of a thread, which has none then.
    void take(CallCounts& others);
    /// Writes a line of the .info for each function that was called. Safe in signal handlers.
    void describe() const;

  private:
    uint64_t m_counts[static_cast<size_t>(Function::count)][2] = {}; ///< left out, recorded
};

} // namespace hdtrace::mpi
