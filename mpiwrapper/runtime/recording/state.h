// Whether anything is recorded now.
#pragma once

#include "mpiwrapper/runtime/recording/functions.h"

#include <pthread.h>

namespace hdtrace::mpi {

/// What becomes of a call: a sum of these.
enum class Recording : uint8_t {
    none = 0,
    plain = 1,      ///< a state of the trace
    watched = 2,    ///< more is read when it begins and ends: counters, processor time
    successes = 4,  ///< no state if it only finds out that nothing has happened
    late = 8,       ///< rules ask for its arguments
    timed = 16,     ///< no state, but its time is added up
    undecided = 32, ///< rules ask for more than the function
    checked = 64,   ///< its buffers are followed
    summed = 128    ///< it is added up, in place of its state (sums.h)
};
constexpr Recording operator|(Recording a, Recording b)
{
    return static_cast<Recording>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr Recording without(Recording recording, Recording part)
{
    return static_cast<Recording>(static_cast<uint8_t>(recording) & ~static_cast<uint8_t>(part));
}
constexpr bool has(Recording recording, Recording part)
{
    return (static_cast<uint8_t>(recording) & static_cast<uint8_t>(part)) != 0;
}

/// What every call looks at first. MPI_Pcontrol and the end of the trace change it.
struct Gate {
    int record_depth = 0;                     ///< calls at a smaller depth are recorded
    int tracking_depth = 0;                   ///< at a smaller depth requests and files are followed
    Recording recording[function_count] = {}; ///< of each function

    Recording recording_of(Function function) const
    {
        return __atomic_load_n(&recording[static_cast<size_t>(function)], __ATOMIC_RELAXED);
    }
};

extern Gate gate;

void set_gate(int record_depth, int tracking_depth);
/// Functions up to this level are recorded, and @p how.
void set_recording(int highest_level, Recording how);
void set_recording(Function function, Recording how);

enum class State {
    waiting,      ///< MPI is not initialised
    initialising, ///< MPI_Init runs
    running,
    off ///< stopped, or never to be started
};

State current_state();
void set_state(State next);

/// Held when tracing starts and stops and while the list of threads changes. Signal handlers lock it too: use
/// Lock.
extern pthread_mutex_t state_mutex;

} // namespace hdtrace::mpi
