#include "hdtrace/checking/thread_check.h"

#include <utility>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

std::string who(const Call& call, const CallPlace& place)
{
    return call.state.name + at(place.site) + " of rank " + std::to_string(place.rank) +
           " is called by thread " + std::to_string(place.thread);
}

} // namespace

ThreadCheck::ThreadCheck(Findings& findings)
    : m_findings(findings), m_with_threads(findings.project().ranks_with_threads())
{
    for (const RunFact& fact : findings.project().project.run.facts)
        if (fact.fact.name == "Program")
            add(fact);
}

void ThreadCheck::add(const RunFact& program)
{
    const auto provided = program.fact.find("threadLevel");
    if (!provided)
        return;
    const bool is_for_one = *provided == "MPI_THREAD_SINGLE" || *provided == "MPI_THREAD_FUNNELED";
    if (!is_for_one && *provided != "MPI_THREAD_SERIALIZED")
        return;
    const auto count = static_cast<std::int64_t>(m_findings.project().project.process_count);
    for (const auto& [first, last] : program.ranks)
        for (std::int64_t rank = first; rank <= last && rank < count; ++rank)
            m_processes[rank] = {
                .is_for_one_thread = is_for_one, .provided = std::string(*provided), .last = {}};
}

void ThreadCheck::enter(const Call& call)
{
    if (call.nesting > 0 || call.is_inside_call || call.facts.call_class == CallClass::other ||
        !m_with_threads.contains(call.trace.rank))
        return;
    if (call.facts.life == LifeCycle::begins)
        m_main_threads[call.trace.rank] = call.trace.thread;
    if (call.facts.life == LifeCycle::ends)
        check_end(call);
    if (const auto found = m_processes.find(call.trace.rank); found != m_processes.end())
        check_level(found->second, call);
    if (call.facts.collective != CollectiveKind::none &&
        call.facts.members == CollectiveMembers::communicator)
        check_collective(call);
}

std::int64_t ThreadCheck::main_thread(std::int64_t rank) const
{
    const auto found = m_main_threads.find(rank);
    return found != m_main_threads.end() ? found->second : -1;
}

// By the thread that began MPI (MPI 4.1, 11.6.2).
void ThreadCheck::check_end(const Call& call)
{
    const CallPlace place = place_of(m_findings.objects(), call);
    const std::int64_t main = main_thread(place.rank);
    if (main >= 0 && place.thread != main)
        report(place,
               who(call, place) + ", but thread " + std::to_string(main) + " began MPI and has to end it",
               nullptr);
}

void ThreadCheck::check_level(Process& process, const Call& call)
{
    if (call.facts.progress == CallProgress::query)
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    LastCall other;
    const std::int64_t main = main_thread(place.rank);
    if (process.is_for_one_thread && main >= 0 && place.thread != main)
        report(place,
               who(call, place) + ", but thread " + std::to_string(main) + " began MPI, which provides " +
                   process.provided,
               nullptr);
    else if (overlaps(process.last, call, place, other))
        report(place,
               who(call, place) + " while thread " + std::to_string(other.place.thread) + " is in " +
                   other.name + at(other.place.site) + "; MPI provides " + process.provided,
               other.place.site);
}

void ThreadCheck::check_collective(const Call& call)
{
    const auto communicator = call.state.integer("cid");
    if (!communicator)
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    LastCall other;
    if (overlaps(m_collectives[{call.trace.rank, *communicator}], call, place, other))
        report(place,
               who(call, place) + " while thread " + std::to_string(other.place.thread) + " is in " +
                   other.name + at(other.place.site) + " on the same communicator",
               other.place.site);
}

bool ThreadCheck::overlaps(LastCall& last, const Call& call, const CallPlace& place, LastCall& other)
{
    const bool is_during_another = call.state.time < last.end && place.thread != last.place.thread;
    if (is_during_another)
        other = last;
    if (call.state.end > last.end)
        last = {call.state.end, call.state.name, place};
    return is_during_another;
}

void ThreadCheck::report(const CallPlace& place, std::string text, const CallSite* other_site)
{
    if (m_told.insert({place.rank, place.site}).second)
        m_findings.report(FindingKind::thread_level, place, std::move(text), other_site);
}

} // namespace hdtrace
