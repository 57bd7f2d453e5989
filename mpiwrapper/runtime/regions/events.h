// Regions, marks and counters of the program: each event is a line among the calls of its thread, or stands
// inside the call that the thread is in.
#pragma once

#include "mpiwrapper/runtime/regions/types.h"

namespace hdtrace::mpi {

/// As hdRegion.h says. @p frame: of the function that the program called; null if its place tells nothing.
int begin_region(hdRegion& region, const void* frame);
/// Null: the innermost one.
int end_region(const hdRegion* region, const void* frame);
int mark(hdRegion& mark, const char* text, const void* frame);
int count(hdCounter& counter, int64_t value, const void* frame);
int count(hdCounter& counter, double value, const void* frame);
int set_place(const char* file, const char* function, int line);
int set_group(const char* name, const char* members);

struct Thread;
/// A longjmp() from a signal handler may have left a function of these, which the thread seems to be in: what
/// it was about to record is lost. @p here and @p frame as for calls (Call::find_lost_calls).
void find_left_event(Thread& thread, const void* here, const void* frame);

} // namespace hdtrace::mpi
