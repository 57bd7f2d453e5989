#include "hdtrace/matching/requests.h"

#include <algorithm>
#include <tuple>

namespace hdtrace {
namespace {

constexpr std::int64_t unknown_rid = -1;

std::int64_t rid_of(const Element& element)
{
    return element.integer("rid").value_or(unknown_rid);
}

/// An operation that outlives the call that started it, with a copy of what that call says.
struct Kept {
    Element call;
    std::vector<Element> children;
    Operation operation;
};

Outcome outcome_of(const Element& completed)
{
    return completed.find("cancelled") ? Outcome::cancelled
           : completed.find("rc")      ? Outcome::failed
                                       : Outcome::completed;
}

Operation operation_of(const TraceFile& trace, const State& call, std::int64_t rid)
{
    return {.rank = trace.rank,
            .rid = rid,
            .thread = trace.thread,
            .time = call.time,
            .end = call.end,
            .line = call.line,
            .site = call.integer("site").value_or(-1)};
}

/// @p what is done; it is copied.
OperationPointer keep(Operation operation, const Element& what, const CallFacts& facts,
                      const std::vector<Element>* children)
{
    auto kept = std::make_shared<Kept>();
    kept->call = what;
    kept->operation = operation;
    kept->operation.call = &kept->call;
    kept->operation.facts = &facts;
    if (children) {
        if (facts.lists_sends || facts.lists_receives)
            kept->children = *children;
        kept->operation.children = &kept->children;
    }
    return {kept, &kept->operation};
}

} // namespace

const std::vector<OperationPointer>& RequestTable::begin(const TraceFile& trace, const State& call,
                                                         const CallFacts& facts)
{
    m_started.clear();
    if (facts.progress == CallProgress::starts || facts.progress == CallProgress::prepares) {
        start(trace, call, facts);
    } else if (facts.progress == CallProgress::activates) {
        start_persistent(trace, call, call);
        for (const Element& child : call.children)
            if (child.name == "Start")
                start_persistent(trace, call, child);
    }
    return m_started;
}

const std::vector<Completion>& RequestTable::end(const TraceFile& trace, const State& call,
                                                 const CallFacts& facts)
{
    m_completed.clear();
    m_ended.clear();
    for (const Element& child : call.children)
        if (child.name == "For")
            complete(trace, call, rid_of(child), child, outcome_of(child));
    if (facts.progress == CallProgress::releases)
        release(trace, call);
    else if (facts.cancels && !call.find("rc"))
        cancel(trace, call);
    return m_completed;
}

void RequestTable::start(const TraceFile& trace, const State& call, const CallFacts& facts)
{
    const std::int64_t rid = rid_of(call);
    if (rid == unknown_rid)
        return;
    Process& process = m_processes[trace.rank];
    if (process.pending.contains(rid)) // it is inside the call that started it
        return;
    OperationPointer operation = keep(operation_of(trace, call, rid), call, facts, &call.children);
    if (facts.progress == CallProgress::prepares) {
        process.persistent[rid] = {std::move(operation), unknown_rid};
        return;
    }
    process.pending[rid] = operation;
    m_started.push_back(std::move(operation));
}

void RequestTable::start_persistent(const TraceFile& trace, const State& call, const Element& start)
{
    const std::int64_t rid = rid_of(start);
    if (rid == unknown_rid)
        return;
    Process& process = m_processes[trace.rank];
    const auto persistent = process.persistent.find(start.integer("initRid").value_or(unknown_rid));
    const bool is_known = persistent != process.persistent.end();
    if (is_known)
        persistent->second.last_started = rid;
    const Operation operation = operation_of(trace, call, rid);
    const OperationPointer& kept = process.pending[rid] =
        is_known ? keep(operation, *persistent->second.made->call, *persistent->second.made->facts, nullptr)
                 : keep(operation, start, facts_of(start.name), nullptr);
    m_started.push_back(kept);
}

void RequestTable::cancel(const TraceFile& trace, const State& call)
{
    Process& process = m_processes[trace.rank];
    const auto persistent = process.persistent.find(rid_of(call));
    const std::int64_t rid =
        persistent == process.persistent.end() ? rid_of(call) : persistent->second.last_started;
    if (process.pending.contains(rid))
        process.cancelled.insert(rid);
}

// A persistent request may be given up while what it started is in flight.
void RequestTable::release(const TraceFile& trace, const State& call)
{
    Process& process = m_processes[trace.rank];
    const auto persistent = process.persistent.extract(rid_of(call));
    const std::int64_t rid = persistent ? persistent.mapped().last_started : rid_of(call);
    if (!persistent || process.pending.contains(rid))
        complete(trace, call, rid, call,
                 process.cancelled.contains(rid) ? Outcome::perhaps_cancelled : Outcome::freed);
}

void RequestTable::complete(const TraceFile& trace, const State& call, std::int64_t rid, const Element& what,
                            Outcome outcome)
{
    if (rid == unknown_rid)
        return;
    Completion& completion = m_completed.emplace_back(Completion{nullptr, rid, outcome, call.end, &what});
    Process& process = m_processes[trace.rank];
    process.cancelled.erase(rid);
    if (auto pending = process.pending.extract(rid)) {
        m_ended.push_back(std::move(pending.mapped()));
        completion.operation = m_ended.back().get();
    }
}

std::vector<OperationPointer> RequestTable::pending() const
{
    std::vector<OperationPointer> operations;
    for (const auto& [rank, process] : m_processes)
        for (const auto& [rid, operation] : process.pending)
            operations.push_back(operation);
    std::ranges::sort(operations, {}, [](const OperationPointer& operation) {
        return std::pair(operation->rank, operation->rid);
    });
    return operations;
}

} // namespace hdtrace
