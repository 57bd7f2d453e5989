#include "mpiwrapper/runtime/regions/errors.h"

#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/regions/types.h"

namespace hdtrace::mpi {

namespace {

/// From HD_ERR_NOT_STARTED on; null: the user knows already, or shall not be told.
constexpr const char* messages[] = {
    "before MPI_Init: it is not recorded",
    "after MPI_Finalize: it is not recorded",
    "in a forked child, which is not traced: it is not recorded",
    "the thread that leaves the region is not in it: it is ignored",
    "the thread is in too many regions: it is not recorded",
    "it has no name: it is not recorded",
    "its name or its text is too long: it is not recorded",
    "the counter has another type: its value is not recorded",
    "a signal handler interrupted the tracer: it is not recorded",
    "there are too many names, or too many events in one MPI call: it is not recorded",
    "memory is short: it is not recorded",
    nullptr,
};

unsigned reported = 0; // a bit for each

/// All processes of a run do it alike, for it is a matter of where in the program they are.
bool is_same_everywhere(int error)
{
    return error <= HD_ERR_NOT_TRACED;
}

} // namespace

int report(int error, const char* name)
{
    const int index = error - HD_ERR_NOT_STARTED;
    const char* const message = messages[index];
    if (message == nullptr || (is_same_everywhere(error) && !is_first_rank()) ||
        (__atomic_fetch_or(&reported, 1u << index, __ATOMIC_RELAXED) & 1u << index) != 0)
        return error;
    Diagnostic line(incomplete_trace);
    line.text("region, mark or counter");
    if (name != nullptr)
        line.text(" '").text(name).text("'");
    line.text(": ").text(message).text("; further ones are not reported");
    return error;
}

} // namespace hdtrace::mpi
