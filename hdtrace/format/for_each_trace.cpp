#include "hdtrace/format/for_each_trace.h"

#include <cstddef>

#include "hdtrace/format/for_each_position.h"

namespace hdtrace {

void for_each_trace(const std::vector<TraceFile>& traces, const std::function<void(const TraceFile&)>& work,
                    unsigned threads)
{
    detail::for_each_position(
        traces.size(), [&](std::size_t i) { work(traces[i]); }, threads);
}

} // namespace hdtrace
