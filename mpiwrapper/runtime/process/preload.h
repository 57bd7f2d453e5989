// How this library came into the process: by LD_PRELOAD, which the processes that it starts inherit.
#pragma once

namespace hdtrace::mpi {

/// hdtrace-run was started for another process, which started this one.
bool is_meant_for_another_process();
/// To be called before the process can fork.
void expect_trace();
/// This process has a trace, for its parent as well, which only waits for it.
void note_trace();
/// To be called when the process ends without a trace: tells its user, who asked hdtrace-run for one. Silent
/// if hdtrace-run was not started for this process, if a child that it has forked has one, and in all but the
/// first of a run.
void tell_of_missing_trace();
/// The program was linked with a tracer, and this is another one, which was preloaded. Such a program need
/// not export hdR_tracer.
bool is_behind_program();
/// What this program starts shall not be traced, unless that was asked for.
void leave_preload_list();

} // namespace hdtrace::mpi
