#include "hdtrace/checking/collective_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/checking/agreed_arguments.h"
#include "hdtrace/checking/collective_data.h"
#include "hdtrace/checking/deadlocks.h"
#include "hdtrace/checking/graph_edges.h"

namespace hdtrace {
namespace {

std::string root_text(std::int64_t root)
{
    return root == mpi_root ? "MPI_ROOT" : root == proc_null ? "MPI_PROC_NULL" : std::to_string(root);
}

std::string call_text(const CollectiveCall& call)
{
    return call.name + (call.root ? " with root " + root_text(*call.root) : "") + at(call.site);
}

struct RootMismatch {
    const CollectiveCall* call = nullptr; ///< null: there is none
    const CollectiveCall* other = nullptr;
};

/// Between two groups one process says MPI_ROOT, and all of the other group name it.
RootMismatch find_wrong_root(const std::vector<CollectiveCall>& calls)
{
    const auto names_one = [](const CollectiveCall& call) { return call.root.value_or(-1) >= 0; };
    const auto root = std::ranges::find(calls, mpi_root, &CollectiveCall::root);
    if (root == calls.end()) {
        const auto naming = std::ranges::find_if(calls, names_one);
        if (naming == calls.end())
            return {};
        const auto named = std::ranges::find(calls, *naming->root, &CollectiveCall::rank);
        return named == calls.end() ? RootMismatch() : RootMismatch{&*named, &*naming};
    }
    const auto wrong = std::ranges::find_if(calls, [&](const CollectiveCall& call) {
        return (names_one(call) || call.root == mpi_root) && &call != &*root && call.root != root->rank;
    });
    return wrong == calls.end() ? RootMismatch() : RootMismatch{&*wrong, &*root};
}

std::string names(std::int64_t rank, const std::string& as, std::int64_t times)
{
    return (times > 0 ? "names rank " : "does not name rank ") + std::to_string(rank) + " as a " + as +
           (times > 1 ? " " + std::to_string(times) + " times" : "");
}

CallPlace place_of(const CollectiveCall& call)
{
    return {call.rank, call.thread, call.line, call.site};
}

std::optional<std::string_view> argument(const CollectiveCall& call, const AttributeName& name)
{
    return call.arguments ? call.arguments->call.find(name) : std::nullopt;
}

} // namespace

/// Or else the operations are that prepare what is started.
bool CollectiveCheck::is_out_of_order(const CollectiveObject& object) const
{
    return m_out_of_order.contains(object) ||
           (object.prepared >= 0 && m_out_of_order.contains({object.communicator}));
}

std::string CollectiveCheck::operation_text(const Collective& collective) const
{
    return "collective operation " + std::to_string(collective.number + 1) + " on " +
           text_of(m_findings.project(), collective);
}

void CollectiveCheck::check(const Collective& collective)
{
    if (is_out_of_order(collective))
        return explain_ends(collective);
    const bool is_whole = collective.calls.size() >= collective.communicator->members.size();
    if (collective.prepared >= 0) { // the rest was checked where that was
        if (!is_whole)
            check_absent(collective);
        return;
    }
    // One that failed may have had another root, which is why.
    const auto model = std::ranges::find(collective.calls, false, &CollectiveCall::has_failed);
    if (model == collective.calls.end())
        return check_agreement(collective);
    check_members(collective, *model);
    if (is_out_of_order(collective))
        return;
    if (!is_whole)
        check_absent(collective);
    else if (facts_of(model->name).topology == TopologyKind::adjacent)
        check_edges(collective);
    else if (!collective.file && !collective.window)
        check_data(collective);
}

void CollectiveCheck::check_members(const Collective& collective, const CollectiveCall& model)
{
    for (const CollectiveCall& call : collective.calls)
        if (!call.has_failed && !check_call(collective, model, call))
            return;
    if (collective.communicator->is_inter())
        check_roots(collective);
    check_agreement(collective);
}

void CollectiveCheck::check_roots(const Collective& collective)
{
    const RootMismatch wrong = find_wrong_root(collective.calls);
    if (!wrong.call || wrong.call->has_failed || wrong.other->has_failed)
        return;
    const std::string other = "rank " + std::to_string(wrong.other->rank);
    if (wrong.call->root == mpi_root)
        report(FindingKind::collective_root_mismatch, collective, *wrong.call, *wrong.other,
               " has rank " + std::to_string(wrong.call->rank) + " as its root (MPI_ROOT)",
               other + " as its root, too,");
    else
        report(FindingKind::collective_root_mismatch, collective, *wrong.call, *wrong.other,
               " is " + call_text(*wrong.call), call_text(*wrong.other) + " by " + other);
    m_out_of_order.insert(collective);
    explain_ends(collective);
}

/// Members may be inside the call for ever. Where all that is wrong is that others ended, those that ended
/// themselves did not do it because of that.
void CollectiveCheck::explain_ends(const Collective& collective)
{
    const bool is_cut_short = m_cut_short.contains(collective);
    for (const CollectiveCall& call : collective.calls)
        if (!is_cut_short || !m_endings.ended_itself(call.rank)) {
            m_endings.explain(place_of(call));
            if (call.rid >= 0)
                m_endings.explain_waiting(call.rank, call.rid);
        }
}

void CollectiveCheck::finish(const std::vector<OperationPointer>& pending)
{
    for (const Incomplete& incomplete : m_incomplete)
        report_absent(incomplete);
    m_incomplete.clear();
    for (const OperationPointer& operation : pending) {
        if (operation->facts->collective == CollectiveKind::none)
            continue;
        const Communicator* communicator =
            m_findings.objects().communicator(operation->rank, *operation->call);
        if (communicator && is_out_of_order({communicator}))
            m_endings.explain_waiting(operation->rank, operation->rid);
    }
}

/// False if what follows would tell the same again.
bool CollectiveCheck::check_call(const Collective& collective, const CollectiveCall& model,
                                 const CollectiveCall& call)
{
    if (call.name != model.name) {
        const bool is_form = facts_of(call.name).operation == facts_of(model.name).operation;
        report(is_form ? FindingKind::collective_blocking_mismatch : FindingKind::collective_call_mismatch,
               collective, call, model, " is " + call_text(call), call_text(model));
        m_out_of_order.insert(collective);
        explain_ends(collective);
        return false;
    }
    // Roots of inter-communicators are told in another way on each side.
    if (!collective.communicator->is_inter() && call.root != model.root) {
        report(FindingKind::collective_root_mismatch, collective, call, model, " is " + call_text(call),
               call_text(model));
        explain_ends(collective);
        return false;
    }
    const auto op = argument(call, "op");
    const auto other = argument(model, "op");
    if (op && other && *op != *other) {
        report(FindingKind::collective_operation_mismatch, collective, call, model,
               " is " + call.name + " with " + std::string(*op) + at(call.site),
               model.name + " with " + std::string(*other) + at(model.site));
        return false;
    }
    return true;
}

void CollectiveCheck::check_agreement(const Collective& collective)
{
    const auto differing = find_differing_argument(collective, m_types);
    if (differing)
        report(FindingKind::collective_argument_mismatch, collective, *differing->call, *differing->other,
               " is " + differing->call->name + " with " + differing->here + at(differing->call->site),
               differing->other->name + " with " + differing->there + at(differing->other->site));
}

void CollectiveCheck::check_data(const Collective& collective)
{
    const std::optional<DataMismatch> mismatch = find_mismatch(collective, m_signatures);
    if (mismatch)
        report(
            mismatch->is_type ? FindingKind::collective_type_mismatch : FindingKind::collective_size_mismatch,
            collective, *mismatch->call, *mismatch->other,
            ": " + mismatch->call->name + at(mismatch->call->site) + " " + mismatch->here, mismatch->there);
}

void CollectiveCheck::check_edges(const Collective& collective)
{
    const std::optional<EdgeMismatch> edge = find_edge_mismatch(collective);
    if (edge)
        report(FindingKind::graph_mismatch, collective, *edge->source, *edge->destination,
               ": " + edge->source->name + at(edge->source->site) + " " +
                   names(edge->destination->rank, "destination", edge->named_by_source),
               edge->destination->name + " " +
                   names(edge->source->rank, "source", edge->named_by_destination));
}

void CollectiveCheck::report(FindingKind kind, const Collective& collective, const CollectiveCall& call,
                             const CollectiveCall& other, const std::string& here, const std::string& there)
{
    const bool is_known = was_told(call) || was_told(other);
    m_findings.report_as(is_known ? Severity::warning : facts_of(kind).severity, kind, place_of(call),
                         operation_text(collective) + here + " here, but " + there + " in " +
                             file_and_line(m_findings.project(), place_of(other)),
                         other.site);
}

/// That it failed; what it does then may be what it wants.
bool CollectiveCheck::was_told(const CollectiveCall& call) const
{
    return call.has_failed && !m_endings.is_inside(place_of(call));
}

void CollectiveCheck::check_absent(const Collective& collective)
{
    m_out_of_order.insert(collective);
    Incomplete found{collective, m_endings.reason_of(absent_ranks(collective))};
    if (found.reason.empty())
        explain_ends(collective);
    else
        m_cut_short.insert(collective);
    if (!found.reason.empty() && std::ranges::none_of(collective.calls, [this](const CollectiveCall& call) {
            return is_stuck_in(call);
        }))
        return report_absent(found);
    for (auto other = m_incomplete.begin(); other != m_incomplete.end(); ++other)
        if (report_other_communicator(*other, found)) {
            m_incomplete.erase(other);
            return;
        }
    m_incomplete.push_back(std::move(found));
}

/// Whether the process waited there when its trace ended.
bool CollectiveCheck::is_stuck_in(const CollectiveCall& call) const
{
    return m_endings.is_inside(place_of(call)) || (call.rid >= 0 && m_endings.waits_for(call.rank, call.rid));
}

/// If in each of them somebody called who is missing in the other one. Who was ended before may still have
/// called, unless it waited.
bool CollectiveCheck::report_other_communicator(const Incomplete& one, const Incomplete& other)
{
    if (one.collective.prepared >= 0 || other.collective.prepared >= 0)
        return false;
    const auto caller = [&](const Incomplete& here, const Incomplete& there) {
        const std::set<std::int64_t> absent = absent_ranks(there.collective);
        const auto& calls = here.collective.calls;
        const auto found = std::ranges::find_if(calls, [&](const CollectiveCall& call) {
            return absent.contains(call.rank) && (there.reason.empty() || is_stuck_in(call));
        });
        return found == calls.end() ? nullptr : &*found;
    };
    const CollectiveCall* const first = caller(one, other);
    const CollectiveCall* const second = caller(other, one);
    if (!first || !second || first->name != second->name)
        return false;
    explain_ends(one.collective);
    explain_ends(other.collective);
    m_findings.report(FindingKind::collective_communicator_mismatch, place_of(*first),
                      operation_text(one.collective) + " is " + call_text(*first) + " of rank " +
                          std::to_string(first->rank) + " here, but rank " + std::to_string(second->rank) +
                          " calls " + call_text(*second) + " as " + operation_text(other.collective) +
                          " in " + file_and_line(m_findings.project(), place_of(*second)),
                      second->site);
    return true;
}

void CollectiveCheck::report_absent(const Incomplete& incomplete)
{
    const Collective& collective = incomplete.collective;
    m_findings.report(FindingKind::collective_missing, place_of(collective.calls.front()),
                      text_of_absent(collective) + ranks_text(absent_ranks(collective)), nullptr,
                      incomplete.reason);
}

std::string CollectiveCheck::text_of_absent(const Collective& collective) const
{
    const CollectiveCall& first = collective.calls.front();
    if (collective.prepared < 0)
        return operation_text(collective) + ", " + call_text(first) + ", was not called by ";
    const CallSite* const prepared =
        first.arguments ? m_findings.objects().call_site(first.rank, first.arguments->call) : nullptr;
    return first.name + at(prepared) + " on " + text_of(m_findings.project(), collective) + ", started" +
           at(first.site) + ", was not started by ";
}

} // namespace hdtrace
