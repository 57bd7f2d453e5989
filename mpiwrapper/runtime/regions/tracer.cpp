// What programs find: all that hdRegion.h needs hangs on one exported name.
#include "mpiwrapper/runtime/library/export.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"
#include "mpiwrapper/runtime/recording/state.h"
#include "mpiwrapper/runtime/regions/events.h"

using namespace hdtrace::mpi;

namespace {

template <typename Object> const void* place_of(const Object& object, const void* frame)
{
    return (object.flags & HD_NO_SITE) != 0 ? nullptr : frame;
}

int begin(hdRegion* region)
{
    return begin_region(*region, place_of(*region, __builtin_frame_address(0)));
}

int end(const hdRegion* region)
{
    const void* const frame = __builtin_frame_address(0);
    return end_region(region, region != nullptr ? place_of(*region, frame) : frame);
}

int mark(hdRegion* mark, const char* text)
{
    return hdtrace::mpi::mark(*mark, text, place_of(*mark, __builtin_frame_address(0)));
}

int count_integer(hdCounter* counter, int64_t value)
{
    return count(*counter, value, place_of(*counter, __builtin_frame_address(0)));
}

int count_float(hdCounter* counter, double value)
{
    return count(*counter, value, place_of(*counter, __builtin_frame_address(0)));
}

hdRegion named(const char* name)
{
    return {nullptr, name, nullptr, 0, 0, nullptr};
}

int begin_named(const char* name)
{
    hdRegion region = named(name);
    return begin_region(region, __builtin_frame_address(0));
}

int end_named(const char* name)
{
    const hdRegion region = named(name);
    return end_region(&region, __builtin_frame_address(0));
}

int mark_named(const char* name)
{
    hdRegion region = named(name);
    return hdtrace::mpi::mark(region, nullptr, __builtin_frame_address(0));
}

int state()
{
    switch (current_state()) {
    case State::waiting:
    case State::initialising:
        return HD_WAITING;
    case State::running:
        return __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0 ? HD_RECORDING : HD_PAUSED;
    case State::off:
        break;
    }
    return HD_UNTRACED;
}

int control(int what)
{
    switch (what) {
    case HD_PAUSE:
        pause_recording();
        break;
    case HD_RESUME:
        resume_recording();
        break;
    case HD_FLUSH:
        flush_own_trace();
        break;
    default:
        break;
    }
    return 0;
}

int rank()
{
    return current_state() == State::running ? this_process().rank : -1;
}

int thread()
{
    if (current_state() != State::running)
        return -1;
    const Thread* const own = current_thread != nullptr ? current_thread : enter_thread();
    return own != nullptr ? own->number : -1;
}

constexpr hdTracer tracer = {begin,       end,       mark,       count_integer, count_float,
                             begin_named, end_named, mark_named, set_place,     state,
                             control,     rank,      thread,     set_group};

} // namespace

/// Null for programs that were built for another version than this one.
extern "C" HDT_EXPORT const hdTracer* hdR_tracer(int version)
{
    return version == HD_TRACER_VERSION ? &tracer : nullptr;
}
