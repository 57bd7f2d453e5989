#include "hdtrace/analysis/in_flight_reader.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

bool goes_on_behind(std::int64_t moment, const std::vector<TraceFile>& traces)
{
    if (moment == std::numeric_limits<std::int64_t>::max())
        return false;
    Selection behind;
    behind.interval.begin = moment + 1;
    behind.unfinished = true;
    State state;
    return std::ranges::any_of(
        traces, [&](const TraceFile& trace) { return TraceStream(trace, behind).next(state); });
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
            if (m_last < m_moment && !goes_on_behind(m_moment, m_project->existing_traces()))
                m_moment = std::min(m_moment, end_of_run());
            m_in_flight.advance(m_moment);
            m_at_end = true;
        }
    }
    return !m_at_end;
}

// What a process did last, until a signal ended it, may be no call.
std::int64_t InFlightReader::end_of_run() const
{
    const FatalSignal* const signal = latest_signal(m_project->project);
    return signal ? std::max(m_last, signal->time) : m_last;
}

} // namespace hdtrace
