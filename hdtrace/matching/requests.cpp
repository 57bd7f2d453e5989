#include "hdtrace/matching/requests.h"

#include <algorithm>
#include <tuple>

namespace hdtrace {
namespace {

// Calls that name a request which they do not start.
constexpr std::string_view uses_of_requests[] = {
    "Cancel", "Request_get_status", "Pready", "Pready_range", "Pready_list", "Parrived", "Grequest_complete",
};

constexpr std::int64_t unknown_rid = -1;

bool is_use(std::string_view call)
{
    return std::ranges::find(uses_of_requests, call) != std::end(uses_of_requests);
}

// Requests of persistent operations are made by calls whose names end so.
bool makes_persistent(std::string_view call)
{
    return call.ends_with("_init");
}

std::int64_t rid_of(const Element& element)
{
    return element.integer("rid").value_or(unknown_rid);
}

OperationPointer make_operation(const TraceFile& trace, const State& call, const Element& what,
                                std::int64_t rid)
{
    return std::make_shared<Operation>(
        Operation{trace.rank, rid, what, trace.thread, call.time, call.end, call.line});
}

} // namespace

const Progress& RequestTable::add(const TraceFile& trace, const State& call)
{
    m_progress.started.clear();
    m_progress.completed.clear();
    for (const Element& child : call.children) {
        if (child.name == "For")
            complete(trace, call, rid_of(child), child,
                     child.find("cancelled") ? Outcome::cancelled : Outcome::completed);
        else if (child.name == "Start")
            start_persistent(trace, call, child);
    }
    if (call.name == "Start")
        start_persistent(trace, call, call);
    else if (call.name == "Request_free")
        release(trace, call);
    else if (!is_use(call.name))
        start(trace, call);
    return m_progress;
}

void RequestTable::start(const TraceFile& trace, const State& call)
{
    const std::int64_t rid = rid_of(call);
    if (rid == unknown_rid)
        return;
    OperationPointer operation = make_operation(trace, call, call, rid);
    Process& process = m_processes[trace.rank];
    if (makes_persistent(call.name)) {
        process.persistent[rid] = {std::move(operation), unknown_rid};
        return;
    }
    process.pending[rid] = operation;
    m_progress.started.push_back(std::move(operation));
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
    const Element& what = is_known ? persistent->second.made->call : start;
    const OperationPointer& operation = process.pending[rid] = make_operation(trace, call, what, rid);
    m_progress.started.push_back(operation);
}

// A persistent request may be given up while what it started is in flight.
void RequestTable::release(const TraceFile& trace, const State& call)
{
    Process& process = m_processes[trace.rank];
    const auto persistent = process.persistent.extract(rid_of(call));
    if (!persistent)
        complete(trace, call, rid_of(call), call, Outcome::freed);
    else if (process.pending.contains(persistent.mapped().last_started))
        complete(trace, call, persistent.mapped().last_started, call, Outcome::freed);
}

void RequestTable::complete(const TraceFile& trace, const State& call, std::int64_t rid, const Element& what,
                            Outcome outcome)
{
    if (rid == unknown_rid)
        return;
    Completion& completion =
        m_progress.completed.emplace_back(Completion{nullptr, rid, outcome, call.end, &what});
    if (auto pending = m_processes[trace.rank].pending.extract(rid))
        completion.operation = std::move(pending.mapped());
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
