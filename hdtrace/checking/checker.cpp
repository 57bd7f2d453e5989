#include "hdtrace/checking/checker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hdtrace/checking/deadlocks.h"

namespace hdtrace {
namespace {

// Also those in which a process ended.
Selection all_states()
{
    Selection selection;
    selection.unfinished = true;
    return selection;
}

// What one call or one trace shows, whatever else is left out.
bool is_told_by_one(FindingKind kind)
{
    switch (kind) {
    case FindingKind::missing:
    case FindingKind::cut_off:
    case FindingKind::aborted:
    case FindingKind::unfinished:
    case FindingKind::thread_level:
    case FindingKind::outside_mpi:
    case FindingKind::killed_by_signal:
    case FindingKind::call_failed:
    case FindingKind::reference:
    case FindingKind::schema:
    case FindingKind::reversed_message:
        return true;
    default:
        return FindingKind::invalid_communicator <= kind && kind <= FindingKind::invalid_argument;
    }
}

} // namespace

Checker::Checker(std::shared_ptr<const OpenedProject> project)
    : m_project(std::move(project)), m_left_out(m_project->project),
      m_goes_on(is_told(m_project->project.run, "Running")), m_findings(*m_project),
      m_call_checks(*m_project), m_calls(m_project->existing_traces(), all_states(),
                                         [this](const TraceFile& trace, const State& state) {
                                             return m_call_checks.check(trace, state);
                                         }),
      m_messages(m_project->objects, [this](const Message& message) { check_message(message); }),
      m_collectives(
          m_project->objects, [this](const Collective& collective) { m_collective_check.check(collective); },
          m_project->ranks_without_traces()),
      m_waiting(*m_project)
{
    m_collectives.keep_arguments(CollectiveMatcher::Keep::all);
    m_collectives.follow_objects();
    m_collectives.follow_starts();
    for (const TraceFile& trace : m_project->missing_traces())
        m_endings.report_trace(FindingKind::missing, trace.rank, trace.path, 0, "the trace does not exist");
}

std::vector<Finding> Checker::read(std::size_t calls)
{
    for (; calls > 0 && !m_at_end; --calls) {
        const ReadAhead::Item* const call = m_calls.next();
        if (!call) {
            finish();
            break;
        }
        if (call->is_marked)
            take(m_call_checks.take());
        m_walk.add(*call->trace, call->state);
    }
    std::vector<Finding> found = m_findings.take();
    if (m_goes_on)
        std::erase_if(found,
                      [](const Finding& finding) { return facts_of(finding.kind).needs == Needs::end; });
    if (m_left_out.has_lost_lines())
        std::erase_if(found, [](const Finding& finding) { return finding.kind == FindingKind::reference; });
    if (m_left_out.has_deeds())
        std::erase_if(found, [this](const Finding& finding) {
            const bool is_told_by_last = finding.kind == FindingKind::deadlock && m_left_out.has_all_last();
            return !is_told_by_one(finding.kind) && !is_told_by_last;
        });
    return found;
}

void Checker::take(CallChecks::Found found)
{
    m_findings.add(std::move(found.findings));
    for (const WrongEnd& end : found.ends) {
        if (end.is_cause)
            m_endings.set_cause(end.rank);
        else
            m_endings.explain(end.rank);
        if (end.is_refused)
            m_refused.insert(end.rank);
    }
}

/// A collective call that has not ended began; but not if that is because of its arguments.
void Checker::leave(const Call& call)
{
    if (call.state.is_unfinished() && call.facts.collective != CollectiveKind::none &&
        !m_refused.contains(call.trace.rank))
        m_collectives.joined(call);
}

void Checker::check_message(const Message& message)
{
    if (!message.send || !message.receive)
        return m_waiting.add_rest(message);
    m_message_check.check(message);
    m_reversed_messages.add(message);
    m_buffering.add(message);
}

void Checker::report_cut_off(const MissingEnd& end)
{
    const auto trace = std::ranges::find(m_project->traces, end.path, &TraceFile::path);
    m_endings.report_trace(FindingKind::cut_off, trace->rank, trace->path, 0,
                           end.what + " is missing: the trace was cut off");
}

void Checker::finish()
{
    m_endings.set_read();
    for (const MissingEnd& end : m_calls.missing())
        report_cut_off(end);
    const std::vector<OperationPointer> pending = m_walk.requests().pending();
    m_collectives.finish();
    m_collective_check.finish(pending);
    m_messages.finish();
    check_waiting(pending);
    m_message_check.check_rest(m_waiting.open_ends(), m_walk.requests());
    m_reversed_messages.report();
    m_requests.finish(m_walk.requests());
    m_buffering.finish();
    m_windows.finish();
    m_findings.add(m_call_checks.finish());
    if (m_race_signs.any() || !m_buffers.undecided().empty())
        find_races(m_findings, m_buffers.undecided());
    m_endings.finish();
    m_at_end = true;
}

void Checker::check_waiting(const std::vector<OperationPointer>& pending)
{
    for (const std::int64_t rank : m_refused)
        m_waiting.leave_out(rank);
    for (const RunProcess& process : m_project->project.run.processes)
        for (const FatalSignal& signal : process.signals)
            m_waiting.lasted_until(signal.time);
    const auto waiting = m_waiting.find(pending);
    if (!m_left_out.has_all_last())
        return; // nothing of it is certain
    for (const Deadlock& deadlock : find_deadlocks(waiting, m_waiting.ended())) {
        m_findings.report_deadlock(deadlock.is_certain ? Severity::error : Severity::warning,
                                   deadlock.processes.front().place, deadlock.text, deadlock.processes);
        for (const WaitingProcess& process : deadlock.processes)
            m_endings.explain(process.place.rank);
    }
}

} // namespace hdtrace
