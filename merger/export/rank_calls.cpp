#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

RankCalls::RankCalls(const std::vector<TraceFile>& traces) : m_current(traces.size())
{
    m_threads.reserve(traces.size());
    for (const TraceFile& trace : traces) {
        m_threads.push_back({TraceStream(trace, {}), {}, false});
        m_threads.back().has_state = m_threads.back().stream.next(m_threads.back().state);
    }
}

const State* RankCalls::next()
{
    if (m_current < m_threads.size()) {
        Thread& last = m_threads[m_current];
        last.has_state = last.stream.next(last.state);
    }
    m_current = m_threads.size();
    for (std::size_t i = 0; i < m_threads.size(); ++i) {
        const bool is_earlier =
            m_threads[i].has_state &&
            (m_current == m_threads.size() || m_threads[i].state.end < m_threads[m_current].state.end);
        if (is_earlier)
            m_current = i;
    }
    return m_current < m_threads.size() ? &m_threads[m_current].state : nullptr;
}

} // namespace hdtrace::exporter
