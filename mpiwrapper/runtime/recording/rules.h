// What the rules of the settings file (docs/rules.md) mean for the calls of this process.
#pragma once

#include "mpiwrapper/runtime/recording/state.h"
#include "mpiwrapper/runtime/recording/thread.h"

namespace hdtrace::mpi {

/// Rules that ask for nothing but the function, the rank and the host are decided here, once and for all. The
/// functions that others are about become undecided. @p recorded is what becomes of calls that are recorded.
/// Where memory is short there are no rules.
void apply_rules(Recording recorded);

/// What becomes of a call that begins now, of a function that is undecided. It may be known only late.
Recording decide(Thread& thread, Function function);
/// The same once its arguments are known. Never late.
Recording decide_late(Thread& thread, Function function, const OpenState& state);
/// Rules count all calls of functions that are undecided, also those that are not decided about, since
/// recording is paused. Returns which one of its function's it is, from 1 on.
int64_t count_for_rules(Function function);

} // namespace hdtrace::mpi
