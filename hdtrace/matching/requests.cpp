#include "hdtrace/matching/requests.h"

#include <algorithm>
#include <tuple>

#include "hdtrace/calls/volume.h"

namespace hdtrace {
namespace {

constexpr std::int64_t unknown_rid = -1;

std::int64_t rid_of(const Element& element)
{
    return element.integer("rid").value_or(unknown_rid);
}

Outcome outcome_of(const Element& completed)
{
    return completed.find("cancelled") ? Outcome::cancelled
           : completed.find("rc")      ? Outcome::failed
                                       : Outcome::completed;
}

} // namespace

Operation operation_of(const Call& call, std::int64_t rid, const CallFacts& facts)
{
    return {.rank = call.trace.rank,
            .rid = rid,
            .facts = &facts,
            .thread = call.trace.thread,
            .time = call.state.time,
            .end = call.state.end,
            .line = call.state.line,
            .site = call.state.integer("site").value_or(-1),
            .number = call.number};
}

bool tells_completion_of_kept(const Call& call)
{
    return call.facts.progress == CallProgress::asks && call.state.name.starts_with("Request_get_status") &&
           (call.state.integer("flag").value_or(0) != 0 || call.state.integer("outcount").value_or(0) > 0);
}

bool is_of_failed_access(const Call& call, const Element& completed)
{
    return completed.has("rc") || (call.has_failed() && call.facts.completes == WhichRequests::one);
}

/// An operation that outlives the call that started it, with a copy of what that call says.
struct RequestTable::Kept {
    Element call;
    std::vector<Element> children;
    Operation operation;

    /// @p what is done, as the facts in @p done say.
    void keep(const Operation& done, const Element& what, const std::vector<Element>* of_what)
    {
        operation = done;
        call = what;
        operation.call = &call;
        const bool lists_data = operation.facts->lists_sends || operation.facts->lists_receives;
        if (of_what && lists_data)
            children = *of_what;
        else
            children.clear();
        operation.children = of_what ? &children : nullptr;
    }
};

const std::vector<OperationPointer>& RequestTable::begin(const Call& call)
{
    m_started.clear();
    const CallProgress progress = call.facts.progress;
    if (progress == CallProgress::starts || progress == CallProgress::prepares) {
        start(call);
    } else if (progress == CallProgress::activates) {
        start_persistent(call, call.state);
        for (const Element& child : call.state.children)
            if (child.name == "Start")
                start_persistent(call, child);
    }
    return m_started;
}

const std::vector<Completion>& RequestTable::end(const Call& call)
{
    m_completed.clear();
    for (; !m_ended.empty(); m_ended.pop_back())
        m_spare.add(std::move(m_ended.back()));
    for (const Element& child : call.state.children)
        if (child.name == "For")
            complete(call, rid_of(child), child, outcome_of(child));
    if (call.facts.progress == CallProgress::releases)
        release(call);
    else if (call.facts.cancels && !call.has_failed())
        cancel(call);
    return m_completed;
}

void RequestTable::start(const Call& call)
{
    const std::int64_t rid = rid_of(call.state);
    if (rid == unknown_rid)
        return;
    Process& process = m_processes[call.trace.rank];
    if (process.pending.contains(rid)) // it is inside the call that started it
        return;
    const Operation operation = operation_of(call, rid, call.facts);
    if (call.facts.progress != CallProgress::prepares)
        return add_pending(process, rid, operation, call.state, &call.state.children);
    Persistent& persistent = process.persistent[rid];
    persistent = {std::make_shared<Kept>()};
    persistent.made->keep(operation, call.state, &call.state.children);
}

void RequestTable::start_persistent(const Call& call, const Element& start)
{
    const std::int64_t rid = rid_of(start);
    const auto init_rid = start.integer("initRid");
    // Of a request that the tracer has not seen being made, nothing tells when it is complete.
    if (rid == unknown_rid || init_rid == unknown_rid)
        return;
    Process& process = m_processes[call.trace.rank];
    process.pending.erase(rid);
    const auto persistent = process.persistent.find(init_rid.value_or(unknown_rid));
    if (persistent == process.persistent.end())
        return add_pending(process, rid, operation_of(call, rid, facts_of(start.name)), start, nullptr);
    persistent->second.last_started = rid;
    const Operation& made = persistent->second.made->operation;
    add_pending(process, rid, operation_of(call, rid, *made.facts), *made.call, made.children);
}

void RequestTable::add_pending(Process& process, std::int64_t rid, const Operation& operation,
                               const Element& what, const std::vector<Element>* children)
{
    Pending::node_type node = m_spare.take(rid);
    if (node.mapped().use_count() != 1) // it is new, or somebody still looks at the operation
        node.mapped() = std::make_shared<Kept>();
    node.mapped()->keep(operation, what, children);
    const std::shared_ptr<Kept>& kept = process.pending.insert(std::move(node)).position->second;
    m_started.emplace_back(kept, &kept->operation);
}

bool RequestTable::is_cancelled(std::int64_t rank, std::int64_t rid) const
{
    const Process* const process = m_processes.find(rank);
    return process && process->cancelled.contains(rid);
}

void RequestTable::cancel(const Call& call)
{
    Process& process = m_processes[call.trace.rank];
    const std::int64_t request = rid_of(call.state);
    const auto persistent = process.persistent.find(request);
    const std::int64_t rid =
        persistent == process.persistent.end() ? request : persistent->second.last_started;
    if (process.pending.contains(rid))
        process.cancelled.insert(rid);
}

// A persistent request may be given up while what it started is in flight.
void RequestTable::release(const Call& call)
{
    Process& process = m_processes[call.trace.rank];
    const std::int64_t request = rid_of(call.state);
    const auto persistent = process.persistent.extract(request);
    const std::int64_t rid = persistent ? persistent.mapped().last_started : request;
    if (!persistent || process.pending.contains(rid))
        complete(call, rid, call.state,
                 process.cancelled.contains(rid) ? Outcome::perhaps_cancelled : Outcome::freed);
}

void RequestTable::complete(const Call& call, std::int64_t rid, const Element& what, Outcome outcome)
{
    if (rid == unknown_rid)
        return;
    Completion& completion =
        m_completed.emplace_back(Completion{nullptr, rid, outcome, call.state.end, &what});
    Process& process = m_processes[call.trace.rank];
    completion.cancel_was_asked = process.cancelled.erase(rid) > 0;
    if (auto pending = process.pending.extract(rid)) {
        const Operation& operation = pending.mapped()->operation;
        completion.operation = &operation;
        if (outcome == Outcome::completed && transfers(operation.facts->file) &&
            is_of_failed_access(call, what))
            completion.outcome = Outcome::failed;
        m_ended.push_back(std::move(pending));
    }
}

std::vector<OperationPointer> RequestTable::pending() const
{
    std::vector<OperationPointer> operations;
    m_processes.for_each([&](std::int64_t, const Process& process) {
        for (const auto& [rid, kept] : process.pending)
            operations.emplace_back(kept, &kept->operation);
    });
    std::ranges::sort(operations, {}, [](const OperationPointer& operation) {
        return std::pair(operation->rank, operation->rid);
    });
    return operations;
}

} // namespace hdtrace
