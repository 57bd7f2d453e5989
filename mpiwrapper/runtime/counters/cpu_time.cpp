#include "mpiwrapper/runtime/counters/cpu_time.h"

#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/text.h"
#include "mpiwrapper/runtime/process/settings.h"

namespace hdtrace::mpi {

int64_t thread_cpu_time()
{
    return detail::read_clock(CLOCK_THREAD_CPUTIME_ID);
}

// The form is that of times.
char* put_cpu_time(char* out, int64_t nanoseconds)
{
    out = put_seconds(out, nanoseconds) - (9 - settings.time_digits);
    return put_text(out, "'");
}

} // namespace hdtrace::mpi
