#include "mpiwrapper/runtime/process/process_line.h"

#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/program_path.h"
#include "mpiwrapper/runtime/process/trace_place.h"

#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

const char* name_of_thread_level(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

} // namespace

void describe_process(std::optional<int> thread_level)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n")] = '\0';

    const Identity& process = this_process();
    TextBuffer line;
    line.text("Process base='").info_escaped(base_name());
    line.text("' host='").info_escaped(process.host).text("' rank=").number(process.rank);
    line.text(" size=")
        .number(process.size)
        .text(" thread=0 version=1 timeAdjustment=")
        .number(base_second());
    line.text(" pid=").number(getpid()).text(" program='").info_escaped(program_path());
    line.text("' mpi='").info_escaped(version);
    if (thread_level)
        line.text("' threadLevel='").string(name_of_thread_level(*thread_level));
    line.text("' world='").string(process.world_uid);
    const char* const run = name_of_run();
    if (*run != '\0')
        line.text("' run='").info_escaped(run);
    write_info(line.text("'\n"));
}

} // namespace hdtrace::mpi
