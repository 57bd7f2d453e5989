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

void Beginnings::leave(const Call& call)
{
    if (!are_missing())
        return EventVisitor::leave(call);
    if (call.nesting > 0)
        return;
    const bool is_region = call.own_region != RegionPaths::outside; // which may have begun before
    note_thread({call.trace.rank, call.trace.thread}, is_region ? call.state.end : call.state.time);
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

void Beginnings::mark(const Call& call)
{
    if (are_missing())
        note_thread({call.trace.rank, call.trace.thread}, call.state.time);
    else
        EventVisitor::mark(call);
}

void Beginnings::note_thread(const Thread& thread, std::int64_t time)
{
    const bool is_first = m_threads.insert(thread).second;
    if (is_first && is_missing(thread.first) && has_begun_before(thread, time))
        begin_later(thread.first, time);
}

/// What is started is not known if the call that prepared it is not there.
void Beginnings::note_start(const Call& call, const Element& start)
{
    const auto prepared = start.integer("initRid");
    if (prepared && !m_prepared.contains({call.trace.rank, *prepared}))
        begin_later(call.trace.rank, call.state.end);
}

void Beginnings::begin_later(std::int64_t rank, std::int64_t time)
{
    std::int64_t& from = m_from.try_emplace(rank, time).first->second;
    from = std::max(from, time);
}

std::optional<std::int64_t> Beginnings::complete_from(std::int64_t rank) const
{
    if (!m_finalized.contains(rank))
        return std::nullopt;
    const auto from = m_from.find(rank);
    return from == m_from.end() ? std::numeric_limits<std::int64_t>::min() : from->second;
}

/// Whether a thread, or another one whose trace it goes on with, had called anything before; also if nobody
/// tells.
bool Beginnings::has_begun_before(const Thread& thread, std::int64_t time) const
{
    const std::vector<RunProcess>& processes = m_project.run.processes;
    const auto process = std::ranges::lower_bound(processes, thread.first, {}, &RunProcess::rank);
    if (process == processes.end() || process->rank != thread.first)
        return true;
    std::optional<std::int64_t> begin;
    for (const RunThread& one : process->threads)
        if (one.number == thread.second)
            begin = std::min(begin.value_or(one.begin), one.begin);
    return !begin || *begin < time;
}

} // namespace hdtrace
