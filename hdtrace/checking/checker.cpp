#include "hdtrace/checking/checker.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/deadlocks.h"
#include "hdtrace/format/compressed.h"

namespace hdtrace {
namespace {

constexpr std::int64_t null_object = -1;

bool is_described(const ObjectTable& objects, ObjectKind kind, std::int64_t rank, std::int64_t id)
{
    switch (kind) {
    case ObjectKind::communicator:
        return objects.communicator(rank, id) != nullptr;
    case ObjectKind::datatype:
        return objects.datatype(rank, id) != nullptr;
    case ObjectKind::file:
        return objects.file(rank, id) != nullptr;
    case ObjectKind::window:
        return objects.window(rank, id) != nullptr;
    default:
        return true; // others have no ids
    }
}

// Also those in which a process ended.
Selection all_states()
{
    Selection selection;
    selection.unfinished = true;
    return selection;
}

std::string rank_text(std::int64_t rank)
{
    return rank == -1 ? "any rank" : "rank " + std::to_string(rank);
}

std::string tag_text(std::int64_t tag)
{
    return tag == -1 ? "any tag" : "tag " + std::to_string(tag);
}

// Roots of inter-communicators are told in another way on each side.
bool has_one_root(const Communicator& communicator)
{
    return std::ranges::none_of(communicator.members,
                                [](const auto& member) { return member.group.has_value(); });
}

std::string call_text(const CollectiveCall& call)
{
    return call.name + (call.root ? " with root " + std::to_string(*call.root) : "") + at(call.site);
}

// The ranks that did not call.
std::set<std::int64_t> absent_ranks(const Collective& collective)
{
    std::set<std::int64_t> absent;
    for (const Communicator::Member& member : collective.communicator->members)
        absent.insert(member.global);
    for (const CollectiveCall& call : collective.calls)
        absent.erase(call.rank);
    return absent;
}

bool exists(const TraceFile& trace)
{
    return std::filesystem::exists(detail::existing_name(trace.path));
}

std::vector<TraceFile> existing(std::vector<TraceFile> traces)
{
    std::erase_if(traces, std::not_fn(exists));
    return traces;
}

std::set<std::int64_t> ranks_without_traces(const std::vector<TraceFile>& traces)
{
    std::set<std::int64_t> ranks;
    for (const TraceFile& trace : traces)
        if (!exists(trace))
            ranks.insert(trace.rank);
    for (const TraceFile& trace : traces)
        if (exists(trace))
            ranks.erase(trace.rank);
    return ranks;
}

} // namespace

Checker::Checker(std::shared_ptr<const OpenedProject> project)
    : m_project(std::move(project)), m_calls(existing(m_project->traces), all_states()),
      m_messages(m_project->objects, [this](const Message& message) { check_message(message); }),
      m_collectives(
          m_project->objects, [this](const Collective& collective) { check_collective(collective); },
          ranks_without_traces(m_project->traces)),
      m_waiting(m_project->objects)
{
    for (const TraceFile& trace : m_project->traces)
        if (!exists(trace))
            report_trace("missing", trace.rank, trace.path, 0, "the trace does not exist");
}

std::vector<Finding> Checker::read(std::size_t calls)
{
    for (; calls > 0 && !m_at_end; --calls) {
        if (const State* call = m_calls.next())
            m_walk.add(m_calls.trace(), *call);
        else
            finish();
    }
    return std::exchange(m_findings, {});
}

void Checker::report(std::string kind, const Place& place, std::string text, std::string because,
                     const CallSite* other_site)
{
    m_findings.push_back({std::move(kind), m_project->path_of(place.rank, place.thread), place.line,
                          std::move(text), std::move(because), place.site, other_site});
}

void Checker::report_trace(std::string kind, std::int64_t rank, const std::string& file, std::int64_t line,
                           std::string text, const CallSite* site)
{
    if (rank >= 0)
        m_not_whole.try_emplace(rank, file);
    m_findings.push_back({std::move(kind), file, line, std::move(text), {}, site});
}

void Checker::report_cut_off(const MissingEnd& end)
{
    const auto trace = std::ranges::find(m_project->traces, end.path, &TraceFile::path);
    report_trace("cut-off", trace->rank, trace->path, 0, end.what + " is missing: the trace was cut off");
}

void Checker::note_progress(const Call& call)
{
    Progress& progress = m_progress[call.trace.rank];
    progress.thread = call.trace.thread;
    progress.line = call.state.line;
    progress.site = m_project->objects.call_site(call.trace.rank, call.state);
    progress.has_begun = progress.has_begun || call.facts.life == LifeCycle::begins;
    progress.has_ended = progress.has_ended || call.facts.life == LifeCycle::ends;
}

// A trace that was cut off and has been closed since looks like this.
bool Checker::ended_early(std::int64_t rank) const
{
    const auto found = m_progress.find(rank);
    return m_is_read && found != m_progress.end() && found->second.has_begun && !found->second.has_ended;
}

// Why a process did not do something, if it is known; -1 is any process.
std::string Checker::reason_of(std::int64_t rank)
{
    if (!m_not_whole.contains(rank) && ended_early(rank)) {
        const Progress& progress = m_progress.at(rank);
        report_trace("unfinished", rank, m_project->path_of(rank, progress.thread), progress.line,
                     "this is the last call" + at(progress.site) + ", but Finalize was not called",
                     progress.site);
    }
    const auto found = rank == -1 ? m_not_whole.begin() : m_not_whole.find(rank);
    return found == m_not_whole.end() ? std::string() : found->second;
}

// Only if it is known of all of them.
std::string Checker::reason_of(const std::set<std::int64_t>& ranks)
{
    const bool is_known = std::ranges::all_of(
        ranks, [&](std::int64_t rank) { return m_not_whole.contains(rank) || ended_early(rank); });
    return is_known ? reason_of(*ranks.begin()) : std::string();
}

void Checker::leave(const Call& call)
{
    const State& state = call.state;
    if (state.is_unfinished()) {
        const CallSite* const site = m_project->objects.call_site(call.trace.rank, state);
        if (call.nesting == 0)
            report_trace("unfinished", call.trace.rank, call.trace.path, state.line,
                         "the process ended inside " + call_words(state) + at(site), site);
        if (call.facts.collective != CollectiveKind::none)
            m_collectives.joined(call); // it began
        return;
    }
    if (call.nesting == 0)
        note_progress(call);
    check_references(call, state);
    for (const Element& child : state.children)
        check_references(call, child);
}

void Checker::check_references(const Call& call, const Element& element)
{
    const std::int64_t rank = call.trace.rank;
    for (const Attribute& attribute : element.attributes) {
        const std::optional<ObjectKind> kind = find_reference(attribute.name);
        if (!kind)
            continue;
        const auto id = element.integer(attribute.name);
        if (id && *id != null_object && !is_described(m_project->objects, *kind, rank, *id) &&
            m_unknown.emplace(rank, *kind, *id).second) {
            const CallSite* const site = m_project->objects.call_site(rank, call.state);
            report("reference", {rank, call.trace.thread, call.state.line, site},
                   call.state.name + at(site) + " names " + attribute.name + "='" + attribute.value +
                       "', but the project has no such " + std::string(object_name(*kind)) + " of rank " +
                       std::to_string(rank));
        }
    }
}

void Checker::check_message(const Message& message)
{
    if (message.send && message.receive)
        return;
    m_waiting.add_rest(message);
    const std::string where =
        tag_text(message.tag) +
        (message.communicator ? " on " + m_project->label_of(*message.communicator) : std::string());
    if (message.send)
        report("message", {message.source, message.send->thread, message.send->line, message.send->site},
               "sent" + at(message.send->site) + " to " + rank_text(message.destination) + ", " + where +
                   ", but never received",
               reason_of(message.destination));
    else if (message.receive)
        report("message",
               {message.destination, message.receive->thread, message.receive->line, message.receive->site},
               "receive" + at(message.receive->site) + " from " + rank_text(message.source) + ", " + where +
                   ", but never sent",
               reason_of(message.source));
}

void Checker::check_collective(const Collective& collective)
{
    const Communicator& communicator = *collective.communicator;
    if (m_out_of_order.contains(&communicator))
        return;
    // One that failed may have had another root, which is why.
    const auto model = std::ranges::find(collective.calls, false, &CollectiveCall::has_failed);
    if (model == collective.calls.end())
        return;
    const CollectiveCall& first = *model;
    const std::string where =
        "operation " + std::to_string(collective.number) + " on " + m_project->label_of(communicator);
    const auto differs = [&](const CollectiveCall& call) {
        return !call.has_failed &&
               (call.name != first.name || (has_one_root(communicator) && call.root != first.root));
    };
    const auto different = std::ranges::find_if(collective.calls, differs);
    if (different != collective.calls.end())
        report("collective", {different->rank, different->thread, different->line, different->site},
               where + " is " + call_text(*different) + " here, but " + call_text(first) + " in " +
                   m_project->path_of(first.rank, first.thread) + ":" + std::to_string(first.line),
               {}, first.site);
    else if (collective.calls.size() < communicator.members.size())
        report_absent(collective, where);
    else
        return;
    m_out_of_order.insert(&communicator);
}

void Checker::report_absent(const Collective& collective, const std::string& where)
{
    const CollectiveCall& first = collective.calls.front();
    const std::set<std::int64_t> absent = absent_ranks(collective);
    report("collective", {first.rank, first.thread, first.line, first.site},
           where + ", " + call_text(first) + ", was not called by " + ranks_text(absent), reason_of(absent));
}

void Checker::finish()
{
    m_is_read = true;
    for (const MissingEnd& end : m_calls.missing())
        report_cut_off(end);
    m_collectives.finish();
    const auto pending = m_walk.requests().pending();
    m_messages.finish();
    for (const auto& [rank, ignored] : m_progress)
        reason_of(rank); // names those that ended early
    for (const OperationPointer& operation : pending) {
        const CallSite* const site = m_project->objects.call_site(operation->rank, operation->site);
        report("request", {operation->rank, operation->thread, operation->line, site},
               operation->call->name + at(site) + " with rid " + std::to_string(operation->rid) +
                   " was never completed",
               reason_of(operation->rank));
    }
    check_waiting();
    m_at_end = true;
}

void Checker::check_waiting()
{
    const auto waiting = m_waiting.find(static_cast<std::int64_t>(m_project->project.process_count));
    for (const Deadlock& deadlock : find_deadlocks(waiting, m_waiting.ended()))
        report("deadlock", {deadlock.rank, deadlock.call->thread, deadlock.call->line, deadlock.call->site},
               deadlock.text);
}

} // namespace hdtrace
