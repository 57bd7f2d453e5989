#include "hdtrace/checking/endings.h"

#include <algorithm>
#include <utility>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

// The tracer tells it: the beginning of MPI may be missing for other reasons.
bool is_before_init(const State& state)
{
    const auto side = state.find("outside");
    return side && *side == "before";
}

std::vector<std::int64_t> pending_of(const State& call)
{
    std::vector<std::int64_t> requests;
    for (const Element& child : call.children)
        if (child.name == "Pending")
            requests.push_back(child.integer("rid").value_or(-1));
    return requests;
}

} // namespace

void Endings::leave(const Call& call)
{
    const bool aborts = call.facts.life == LifeCycle::aborts;
    if (call.nesting != 0) {
        if (aborts)
            m_progress[call.trace.rank].abort_inside = place_of(m_findings.objects(), call);
        return;
    }
    if (call.facts.call_class == CallClass::other)
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    Progress& progress = m_progress[call.trace.rank];
    if (aborts)
        progress.abort = place;
    progress.has_sessions = progress.has_sessions || call.state.name == "Session_init";
    check_outside(call, progress, place);
    forget_left(call);
    if (progress.finalized > 0 && call.state.time >= progress.finalized)
        return;
    if (call.state.is_unfinished()) {
        m_unfinished.emplace(call.trace.rank,
                             Unfinished{place, call.state.time,
                                        call_words(m_findings.project(), call.trace.rank, call.state),
                                        pending_of(call.state)});
        return;
    }
    progress.last = {place, call.state.end};
    progress.last_of[call.trace.thread] = progress.last;
    if (call.facts.life == LifeCycle::ends)
        progress.finalized = call.state.end;
    progress.has_begun = progress.has_begun || call.facts.life == LifeCycle::begins;
    progress.has_ended = progress.has_ended || call.facts.life == LifeCycle::ends;
}

// A callback can leave a call by an exception: then others come behind it.
void Endings::forget_left(const Call& call)
{
    const auto left = find_unfinished(call.trace.rank, call.trace.thread);
    if (left != m_unfinished.end())
        m_unfinished.erase(left);
}

Endings::UnfinishedCalls::const_iterator Endings::find_unfinished(std::int64_t rank,
                                                                  std::optional<std::int64_t> thread) const
{
    const auto [first, last] = m_unfinished.equal_range(rank);
    const auto found =
        std::find_if(first, last, [&](const auto& call) { return call.second.place.thread == thread; });
    return found == last ? m_unfinished.end() : found;
}

void Endings::check_outside(const Call& call, const Progress& progress, const CallPlace& place)
{
    const bool begins_again = progress.has_begun && call.facts.life == LifeCycle::begins;
    const bool is_before_begin = is_before_init(call.state);
    const bool is_behind_end = progress.has_ended && !progress.has_sessions &&
                               call.state.time >= progress.finalized && !call.facts.anytime;
    if (!begins_again && !is_before_begin && !is_behind_end)
        return;
    m_findings.report(FindingKind::outside_mpi, place,
                      call.state.name + at(place.site) + " is called " +
                          (is_before_begin ? "before MPI_Init"
                           : is_behind_end ? "after MPI_Finalize"
                                           : "a second time"));
    if (call.state.is_unfinished())
        set_cause(call.trace.rank);
}

template <class Predicate> bool Endings::has_unfinished(std::int64_t rank, Predicate is_it) const
{
    const auto [first, last] = m_unfinished.equal_range(rank);
    return std::any_of(first, last, [&](const auto& call) { return is_it(call.second); });
}

bool Endings::is_inside(const CallPlace& call) const
{
    return has_unfinished(call.rank, [&](const Unfinished& one) {
        return one.place.thread == call.thread && one.place.line == call.line;
    });
}

bool Endings::waits_for(std::int64_t rank, std::int64_t rid) const
{
    return has_unfinished(rank, [&](const Unfinished& one) {
        return std::ranges::find(one.requests, rid) != one.requests.end();
    });
}

void Endings::explain(const CallPlace& call)
{
    if (is_inside(call))
        explain(call.rank);
}

void Endings::explain_waiting(std::int64_t rank, std::int64_t rid)
{
    if (waits_for(rank, rid))
        explain(rank);
}

void Endings::set_cause(std::int64_t rank)
{
    explain(rank);
    m_causes.insert(rank);
}

void Endings::set_read()
{
    m_is_read = true;
    for (const auto& [rank, call] : m_unfinished)
        m_not_whole.try_emplace(rank, m_findings.project().path_of(rank, call.place.thread));
    m_progress.for_each([this](std::int64_t rank, const Progress& progress) {
        if (progress.abort_inside)
            report_abort(rank, *progress.abort_inside);
        else if (progress.abort && m_unfinished.contains(rank) && !is_inside(*progress.abort))
            report_abort(rank, *progress.abort); // other threads were inside calls
    });
    find_signals();
    for (const auto& [rank, signal] : m_signals)
        if (!comes_from_outside(signal) && !m_causes.contains(rank))
            report_signal(rank, signal);
    for (const RunProcess& process : m_findings.project().project.run.processes)
        if (ended_itself(process.rank))
            m_causes.insert(process.rank);
}

const RunProcess* Endings::find_process(std::int64_t rank) const
{
    const std::vector<RunProcess>& processes = m_findings.project().project.run.processes;
    const auto process = std::ranges::lower_bound(processes, rank, {}, &RunProcess::rank);
    return process != processes.end() && process->rank == rank ? &*process : nullptr;
}

// Without calls, and then ended as processes do; a handler may end it right away.
bool Endings::went_on_after(std::int64_t rank, const FatalSignal& signal) const
{
    constexpr std::int64_t longest_end = 100'000'000;
    const RunProcess* const process = find_process(rank);
    return process != nullptr && process->cpu_times.size() > 1 &&
           saturated_distance(process->cpu_times.back().time, signal.time) > longest_end;
}

// Too early: the last line about its processor time was written at the end.
bool Endings::ended_itself(std::int64_t rank) const
{
    const RunProcess* const process = find_process(rank);
    return process != nullptr && process->cpu_times.size() > 1 && ended_early(rank) &&
           !m_signals.contains(rank);
}

const Endings::LastCall* Endings::last_of_thread(const Progress& progress, const FatalSignal& signal)
{
    const auto last = signal.thread ? progress.last_of.find(*signal.thread) : progress.last_of.end();
    return last == progress.last_of.end() ? nullptr : &last->second;
}

LastMoments Endings::moments_of(std::int64_t rank, const Progress& progress) const
{
    LastMoments moments{progress.last.end, {}, progress.finalized};
    for (const auto& [thread, last] : progress.last_of)
        moments.add(thread, last.end);
    for (auto [call, end] = m_unfinished.equal_range(rank); call != end; ++call)
        moments.add(call->second.place.thread, call->second.time);
    return moments;
}

// Who ends a process that has left MPI has nothing to do with it; the process itself may have overwritten
// what it still needs.
void Endings::find_signals()
{
    for (const RunProcess& process : m_findings.project().project.run.processes) {
        const Progress* const progress = m_progress.find(process.rank);
        if (!progress)
            continue;
        const LastMoments moments = moments_of(process.rank, *progress);
        const auto first = std::ranges::find_if(process.signals, [&](const FatalSignal& signal) {
            const bool counts = progress->finalized == 0 || !comes_from_outside(signal);
            return counts && !survived(moments, signal);
        });
        if (first != process.signals.end())
            m_signals.emplace(process.rank, *first);
    }
}

void Endings::report_signal(std::int64_t rank, const FatalSignal& signal)
{
    set_cause(rank);
    const Progress& progress = *m_progress.find(rank);
    const auto inside = find_unfinished(rank, signal.thread);
    const bool is_inside_call = inside != m_unfinished.end();
    const LastCall* const of_thread = last_of_thread(progress, signal);
    const CallPlace& place = is_inside_call ? inside->second.place
                             : of_thread    ? of_thread->place
                                            : progress.last.place;
    std::string where = " after its last call";
    if (is_inside_call)
        where = " inside " + inside->second.text;
    else if (of_thread && progress.last_of.size() > 1)
        where = " after the last call of thread " + std::to_string(place.thread);
    else if (!of_thread && !comes_from_outside(signal))
        where = " in a thread that called no MPI; the last call of another one was";
    m_not_whole.try_emplace(rank, m_findings.project().path_of(rank, place.thread));
    const bool went_on = went_on_after(rank, signal);
    m_findings.report(FindingKind::killed_by_signal, place,
                      signal.name + (went_on ? " came" : " ended the process") + where + at(place.site) +
                          (went_on ? "; it was handled, and the process ended itself" : ""));
}

void Endings::report_abort(std::int64_t rank, const CallPlace& place)
{
    set_cause(rank);
    std::string text = "the process ended all processes" + at(place.site);
    if (const auto outer = find_unfinished(rank, place.thread); outer != m_unfinished.end())
        text += ", inside " + outer->second.text + at(outer->second.place.site);
    m_findings.report(FindingKind::aborted, place, std::move(text));
}

// Of those that were ended from outside, though no process gave a reason, the first. Whoever ends a run in
// which processes wait in vain does it because of that.
void Endings::report_followers()
{
    const auto first =
        std::ranges::min_element(m_signals, {}, [](const auto& of_rank) { return of_rank.second.time; });
    if (first != m_signals.end() && m_causes.empty() && m_explained.empty())
        report_signal(first->first, first->second);
}

bool Endings::only_followed(std::int64_t rank) const
{
    const auto signal = m_signals.find(rank);
    return !m_causes.empty() && !m_causes.contains(rank) &&
           (signal == m_signals.end() || comes_from_outside(signal->second));
}

void Endings::report_trace(FindingKind kind, std::int64_t rank, const std::string& file, std::int64_t line,
                           std::string text, const CallSite* site)
{
    if (rank >= 0)
        m_not_whole.try_emplace(rank, file);
    m_findings.report_file(kind, rank, file, line, std::move(text), site);
}

// A trace that was cut off and has been closed since looks like this.
bool Endings::ended_early(std::int64_t rank) const
{
    const Progress* const progress = m_progress.find(rank);
    return m_is_read && progress && progress->has_begun && !progress->has_ended;
}

// It was killed before anything was written. What it tells of its processor time it tells again at its end.
bool Endings::left_nothing(std::int64_t rank) const
{
    const RunProcess* const process = find_process(rank);
    return m_is_read && !m_progress.find(rank) && process != nullptr && process->cpu_times.size() == 1;
}

// Which calls became states of its trace it has told at its end.
bool Endings::has_recorded_its_end(std::int64_t rank) const
{
    return std::ranges::any_of(m_findings.project().project.run.facts, [&](const RunFact& fact) {
        return fact.fact.name == "Calls" && fact.fact.find("name") == "Finalize" &&
               fact.fact.integer("recorded").value_or(0) > 0 && fact.holds_for(rank);
    });
}

std::string Endings::reason_of(std::int64_t rank)
{
    if (!m_not_whole.contains(rank) && (left_nothing(rank) || ended_early(rank)) && only_followed(rank))
        return reason_of(*m_causes.begin());
    if (!m_not_whole.contains(rank) && left_nothing(rank))
        report_trace(FindingKind::no_finalize, rank, m_findings.project().path_of(rank, 0), 0,
                     "the process was ended before its calls were written");
    if (m_is_read && m_signals.contains(rank))
        m_not_whole.try_emplace(rank,
                                m_findings.project().path_of(rank, m_progress.find(rank)->last.place.thread));
    if (!m_not_whole.contains(rank) && ended_early(rank)) {
        const Progress& progress = *m_progress.find(rank);
        const CallPlace& last = progress.last.place;
        const std::string& file = m_findings.project().path_of(rank, last.thread);
        if (has_recorded_its_end(rank))
            report_trace(FindingKind::cut_off, rank, file, last.line,
                         "the calls behind this one" + at(last.site) +
                             " are missing, which the process has recorded: the trace was cut off",
                         last.site);
        else if (progress.abort)
            report_trace(FindingKind::aborted, rank, file, last.line,
                         "the process ended all processes" + at(last.site), last.site);
        else
            report_trace(FindingKind::no_finalize, rank, file, last.line,
                         "this is the last call" + at(last.site) + ", but Finalize was not called",
                         last.site);
    }
    const auto found = rank == -1 ? m_not_whole.begin() : m_not_whole.find(rank);
    return found == m_not_whole.end() ? std::string() : found->second;
}

std::string Endings::reason_if_free(std::int64_t rank)
{
    const auto is_free = [&](std::int64_t one) {
        return !m_explained.contains(one) || m_causes.contains(one);
    };
    if (rank != -1)
        return is_free(rank) ? reason_of(rank) : std::string();
    const auto found = std::ranges::find_if(m_not_whole, [&](const auto& one) { return is_free(one.first); });
    return found == m_not_whole.end() ? std::string() : found->second;
}

std::string Endings::reason_of(const std::set<std::int64_t>& ranks)
{
    const bool is_known = std::ranges::all_of(ranks, [&](std::int64_t rank) {
        return m_not_whole.contains(rank) || ended_early(rank) || left_nothing(rank);
    });
    return is_known ? reason_of(*ranks.begin()) : std::string();
}

void Endings::finish()
{
    report_followers();
    m_progress.for_each([&](std::int64_t rank, const Progress&) {
        if (!only_followed(rank))
            reason_of(rank);
    });
    for (const RunProcess& process : m_findings.project().project.run.processes)
        if (left_nothing(process.rank) && !only_followed(process.rank))
            reason_of(process.rank);
    for (const auto& [rank, call] : m_unfinished)
        if (!m_explained.contains(rank) && !only_followed(rank))
            m_findings.report(FindingKind::unfinished, call.place,
                              "the process ended inside " + call.text + at(call.place.site));
}

} // namespace hdtrace
