#include "merger/export/rank_calls.h"

#include "merger/export/processes.h"

namespace hdtrace::exporter {

RankCalls::RankCalls(const std::vector<TraceFile>& traces) : m_current(traces.size())
{
    m_threads.reserve(traces.size());
    for (const TraceFile& trace : traces) {
        m_threads.push_back({TraceStream(trace, all_calls()), {}, false});
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

void RankCalls::walk(EventWalk& walk)
{
    while (const State* state = next())
        walk.add(trace(), *state);
}

void RankCalls::walk_moments(EventWalk& walk)
{
    const auto moment = [](const Thread& thread) {
        return thread.has_begun ? thread.state.end : thread.state.time;
    };
    for (choose(moment); m_current < m_threads.size(); choose(moment)) {
        Thread& thread = m_threads[m_current];
        thread.has_begun = !thread.has_begun;
        if (thread.has_begun) {
            walk.begin(thread.stream.trace(), thread.state);
        } else {
            walk.end(thread.stream.trace(), thread.state);
            read(thread);
        }
    }
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
