// How this library came into the process: by LD_PRELOAD, which the processes that it starts inherit.
#pragma once

namespace hdtrace::mpi {

/// hdtrace-run was started for another process, which started this one.
bool is_meant_for_another_process();
/// What this program starts shall not be traced, unless that was asked for.
void leave_preload_list();

} // namespace hdtrace::mpi
