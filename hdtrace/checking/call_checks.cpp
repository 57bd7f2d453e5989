#include "hdtrace/checking/call_checks.h"

namespace hdtrace {

bool CallChecks::check(const TraceFile& trace, const State& state)
{
    m_references.check(trace, state);
    m_walk.add(trace, state);
    Found found{m_findings.take(), m_arguments.take_ends()};
    if (found.findings.empty() && found.ends.empty())
        return false;
    const std::lock_guard lock(m_mutex);
    m_found.push_back(std::move(found));
    return true;
}

CallChecks::Found CallChecks::take()
{
    const std::lock_guard lock(m_mutex);
    Found found = std::move(m_found.front());
    m_found.pop_front();
    return found;
}

std::vector<Finding> CallChecks::finish()
{
    m_objects.finish();
    m_accesses.finish();
    m_references.report(m_findings);
    return m_findings.take();
}

} // namespace hdtrace
