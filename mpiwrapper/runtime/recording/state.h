// Whether anything is recorded now.
#pragma once

#include <pthread.h>

namespace hdtrace::mpi {

/// What every call looks at first. MPI_Pcontrol and the end of the trace change it.
struct Gate {
    int record_depth = 0;   ///< calls at a smaller depth are recorded
    int tracking_depth = 0; ///< at a smaller depth requests and files are followed
    int level = 0;          ///< the highest level of functions that is recorded
};

extern Gate gate;

void set_gate(int record_depth, int tracking_depth);

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
