#include "mpiwrapper/runtime/recording/state.h"

#include "hdtrace/writer/undisturbed.h"

namespace hdtrace::mpi {

Gate gate;
pthread_mutex_t state_mutex = HDTRACE_MUTEX_INITIALIZER;

namespace {

State state = State::waiting;

} // namespace

void set_gate(int record_depth, int tracking_depth)
{
    __atomic_store_n(&gate.record_depth, record_depth, __ATOMIC_RELAXED);
    __atomic_store_n(&gate.tracking_depth, tracking_depth, __ATOMIC_RELAXED);
}

void set_recording(int highest_level, Recording how)
{
    for (int level = 0; level < level_count; ++level)
        __atomic_store_n(&gate.recording[level], level <= highest_level ? how : Recording::none,
                         __ATOMIC_RELAXED);
}

State current_state()
{
    return static_cast<State>(__atomic_load_n(reinterpret_cast<int*>(&state), __ATOMIC_ACQUIRE));
}

void set_state(State next)
{
    __atomic_store_n(reinterpret_cast<int*>(&state), static_cast<int>(next), __ATOMIC_RELEASE);
}

} // namespace hdtrace::mpi
