// Descriptors of perf events (perf_event_open(2)), which we keep inside a foreign program.
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>

namespace hdtrace::mpi {

/// The kernel's id of an event; 0 if the descriptor is of something else, or closed.
inline uint64_t id_of_perf_event(int descriptor)
{
    uint64_t id = 0;
    return ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

/// The program may have closed all descriptors that it did not know, and another file have the number now.
inline bool is_still_perf_event(int descriptor, uint64_t id)
{
    return id != 0 && id_of_perf_event(descriptor) == id;
}

} // namespace hdtrace::mpi
