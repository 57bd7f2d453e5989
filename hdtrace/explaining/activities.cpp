#include "hdtrace/explaining/activities.h"

namespace hdtrace {

WaitsOfTimelines::WaitsOfTimelines(const History& history, const std::vector<WaitState>& waits)
{
    const WaitState* wait = waits.data();
    const WaitState* const end = wait + waits.size();
    for (std::uint32_t timeline = 0; timeline <= history.timelines.size(); ++timeline)
        m_begins.push_back(wait = std::partition_point(wait, end, [&](const WaitState& one) {
                               return one.call.timeline < timeline;
                           }));
}

} // namespace hdtrace
