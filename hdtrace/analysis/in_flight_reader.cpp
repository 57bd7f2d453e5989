#include "hdtrace/analysis/in_flight_reader.h"

#include <algorithm>
#include <utility>

namespace hdtrace {
namespace {

Selection begun_until(std::int64_t moment, const Snapshot& start)
{
    Selection selection;
    if (!start.last.empty())
        selection.interval.begin = start.moment + 1;
    selection.interval.end = moment;
    selection.unfinished = true;
    return selection;
}

} // namespace

InFlightReader::InFlightReader(std::shared_ptr<const OpenedProject> project, std::int64_t moment,
                               Snapshot start)
    : m_project(std::move(project)), m_moment(moment), m_last(start.moment),
      m_states(m_project->existing_traces(), begun_until(moment, start)),
      m_in_flight(m_project, std::move(start))
{
}

bool InFlightReader::read(std::size_t states)
{
    for (; states > 0 && !m_at_end; --states) {
        if (State* const state = m_states.next()) {
            m_last = std::max(m_last, state->end);
            m_in_flight.add(m_states.trace(), *state);
        } else {
            m_moment = std::min(m_moment, m_last);
            m_in_flight.advance(m_moment);
            m_at_end = true;
        }
    }
    return !m_at_end;
}

} // namespace hdtrace
