#include "merger/export/rank_calls.h"

namespace hdtrace::exporter {

RankCalls::RankCalls(const std::vector<TraceFile>& traces) : m_current(traces.size())
{
    m_threads.reserve(traces.size());
    for (const TraceFile& trace : traces) {
        m_threads.push_back({TraceStream(trace, {}), {}, false});
        read(m_threads.back());
    }
}

const State* RankCalls::next()
{
    if (m_current < m_threads.size())
        read(m_threads[m_current]);
    choose([](const Thread& thread) { return thread.state.end; });
    return m_current < m_threads.size() ? &m_threads[m_current].state : nullptr;
}

CallMoment RankCalls::next_moment()
{
    if (m_current < m_threads.size()) {
        Thread& last = m_threads[m_current];
        if (!last.has_begun)
            read(last);
    }
    choose([](const Thread& thread) { return thread.has_begun ? thread.state.end : thread.state.time; });
    if (m_current == m_threads.size())
        return {};
    Thread& current = m_threads[m_current];
    current.has_begun = !current.has_begun;
    return {&current.state, current.has_begun};
}

void RankCalls::read(Thread& thread)
{
    thread.has_state = thread.stream.next(thread.state);
}

void RankCalls::choose(auto moment)
{
    m_current = m_threads.size();
    for (std::size_t i = 0; i < m_threads.size(); ++i) {
        const Thread& thread = m_threads[i];
        if (thread.has_state &&
            (m_current == m_threads.size() || moment(thread) < moment(m_threads[m_current])))
            m_current = i;
    }
}

} // namespace hdtrace::exporter
