// Whether anything is recorded now.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// From which value of HDTRACE_ALL_FUNCTIONS on a function is recorded.
enum Level : int {
    with_attributes = 0, ///< has attributes or child elements
    ordinary = 1,        ///< only its times are known
    local_query = 2      ///< asks for what the process knows anyway
};
inline constexpr int level_count = 3;

/// What becomes of a call. Bit 0: a state of the trace.
enum class Recording : uint8_t {
    none = 0,
    plain = 1,
    watched = 3, ///< and more is read when it begins and ends: counters, processor time
};

/// What every call looks at first. MPI_Pcontrol and the end of the trace change it.
struct Gate {
    int record_depth = 0;                  ///< calls at a smaller depth are recorded
    int tracking_depth = 0;                ///< at a smaller depth requests and files are followed
    Recording recording[level_count] = {}; ///< of each level of functions

    Recording recording_of(Level level) const { return __atomic_load_n(&recording[level], __ATOMIC_RELAXED); }
};

extern Gate gate;

void set_gate(int record_depth, int tracking_depth);
/// Functions up to this level are recorded, and @p how.
void set_recording(int highest_level, Recording how);

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
