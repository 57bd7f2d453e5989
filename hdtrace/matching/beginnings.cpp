#include "hdtrace/matching/beginnings.h"

#include <algorithm>
#include <limits>

namespace hdtrace {

Beginnings::Beginnings(const Project& project) : m_project(project)
{
    for (const RunFact& fact : project.run.facts) {
        if (fact.fact.name != "Bound" || fact.fact.text("name") != "keep-last")
            continue;
        for (const RunFact::Ranks& ranks : fact.ranks)
            for (std::int64_t rank = ranks.first; rank <= ranks.last; ++rank)
                m_missing.insert(m_missing.end(), rank);
    }
}

void Beginnings::note(const Call& call)
{
    if (call.nesting > 0)
        return;
    m_first.try_emplace({call.trace.rank, call.trace.thread}, call.state.time);
    if (call.facts.life == LifeCycle::ends && !call.state.is_unfinished())
        m_finalized.insert(call.trace.rank);
}

std::optional<std::int64_t> Beginnings::complete_from(std::int64_t rank) const
{
    if (!m_finalized.contains(rank))
        return std::nullopt;
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    for (auto first = m_first.lower_bound({rank, 0}); first != m_first.end() && first->first.first == rank;
         ++first)
        if (is_missing(rank) && has_begun_before(first->first, first->second))
            from = std::max(from, first->second);
    return from;
}

/// Whether a thread, or another one whose trace it goes on with, had called anything before; also if nobody
/// tells.
bool Beginnings::has_begun_before(const Thread& thread, std::int64_t time) const
{
    const auto process = std::ranges::find(m_project.run.processes, thread.first, &RunProcess::rank);
    if (process == m_project.run.processes.end())
        return true;
    std::optional<std::int64_t> begin;
    for (const RunThread& one : process->threads)
        if (one.number == thread.second)
            begin = std::min(begin.value_or(one.begin), one.begin);
    return !begin || *begin < time;
}

} // namespace hdtrace
