// for_each_trace.h - reads many traces on all cores.
#pragma once

#include <functional>
#include <vector>

#include "hdtrace/format/traces.h"

namespace hdtrace {

/// Calls @p work once for each trace, in several threads at a time, beginning with the first ones, and
/// returns when all is done. What @p work throws first is thrown here; traces that were not begun by then are
/// left out. @p threads: 0 takes as many as there are cores. @p work has to protect what it shares between
/// traces.
void for_each_trace(const std::vector<TraceFile>& traces, const std::function<void(const TraceFile&)>& work,
                    unsigned threads = 0);

} // namespace hdtrace
