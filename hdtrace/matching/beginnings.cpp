#include "hdtrace/matching/beginnings.h"

#include <algorithm>
#include <limits>

#include "hdtrace/matching/regions.h"

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
    const bool is_region = call.own_region != RegionPaths::outside; // which may have begun before
    m_first.try_emplace({call.trace.rank, call.trace.thread}, is_region ? call.state.end : call.state.time);
    if (call.facts.progress == CallProgress::prepares)
        m_prepared.emplace(call.trace.rank, call.state.integer("rid").value_or(-1));
    if (call.facts.progress == CallProgress::activates) {
        note_start(call, call.state);
        for (const Element& child : call.state.children)
            note_start(call, child);
    }
    if (call.facts.life == LifeCycle::ends && !call.state.is_unfinished())
        m_finalized.insert(call.trace.rank);
}

/// What is started is not known if the call that prepared it is not there.
void Beginnings::note_start(const Call& call, const Element& start)
{
    const auto prepared = start.integer("initRid");
    if (!prepared || m_prepared.contains({call.trace.rank, *prepared}))
        return;
    std::int64_t& until = m_unknown.try_emplace(call.trace.rank, call.state.end).first->second;
    until = std::max(until, call.state.end);
}

std::optional<std::int64_t> Beginnings::complete_from(std::int64_t rank) const
{
    if (!m_finalized.contains(rank))
        return std::nullopt;
    const auto unknown = m_unknown.find(rank);
    std::int64_t from =
        unknown == m_unknown.end() ? std::numeric_limits<std::int64_t>::min() : unknown->second;
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
