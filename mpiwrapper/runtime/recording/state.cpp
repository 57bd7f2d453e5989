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
    for (size_t i = 0; i < function_count; ++i) {
        const auto function = static_cast<Function>(i);
        set_recording(function, level_of(function) <= highest_level ? how : Recording::none);
    }
}

void set_recording(Function function, Recording how)
{
    __atomic_store_n(&gate.recording[static_cast<size_t>(function)], how, __ATOMIC_RELAXED);
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
