#include "hdtrace/analysis/event_reader.h"

#include <utility>

namespace hdtrace {

EventReader::EventReader(std::shared_ptr<const OpenedProject> project, Selection selection, EventKind kind)
    : m_project(std::move(project)), m_interval(selection.interval), m_kind(kind),
      m_states(m_project->existing_traces(),
               with_regions(m_project->project, without_names(std::move(selection))))
{
}

bool EventReader::read(std::size_t states, const std::function<void(const State&)>& see)
{
    for (; states > 0; --states) {
        const State* state = m_states.next();
        if (!state)
            return false;
        if (state->is_event || !state->nested.empty())
            add(*state, see);
    }
    return true;
}

void EventReader::add(const State& state, const std::function<void(const State&)>& see)
{
    for (const State& nested : state.nested)
        add(nested, see);
    if (!state.is_event)
        return;
    const bool is_in_time = state.time >= m_interval.begin && state.time <= m_interval.end;
    if (event_kind(state) != m_kind)
        m_regions.follow(trace(), state);
    else if (is_in_time)
        see(state);
}

} // namespace hdtrace
