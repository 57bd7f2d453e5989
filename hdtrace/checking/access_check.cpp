#include "hdtrace/checking/access_check.h"

#include <algorithm>
#include <string>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/access_target.h"
#include "hdtrace/format/left_out.h"

namespace hdtrace {
namespace {

const CallFacts* const win_attach = find_call("Win_attach");

} // namespace

void AccessCheck::leave(const Call& call)
{
    if (call.is_inside_call || call.has_failed())
        return;
    if (call.facts.makes == ObjectKind::window && !call.state.integer("size"))
        m_dynamic.insert(m_findings.objects().window(call.trace.rank, call.state));
    if (&call.facts == win_attach)
        m_attached.add(call, m_findings.objects());
    if (call.facts.access == WindowAccess::none)
        return;
    const auto target = target_of_access(call.state);
    if (target < 0)
        return;
    check_range(call, target);
    check_data(call);
}

void AccessCheck::report(FindingKind kind, const Call& call, const std::string& text)
{
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(kind, place, call.state.name + at(place.site) + " " + text);
}

void AccessCheck::check_range(const Call& call, std::int64_t target)
{
    const Window* window = m_findings.objects().window(call.trace.rank, call.state);
    const auto offset = call.state.integer("targetOffset");
    if (!window || !offset)
        return;
    const auto type = call.state.integer("targetTid").value_or(call.state.integer("tid").value_or(-1));
    const std::int64_t count = call.state.integer("targetCount").value_or(1);
    const MappedType* const mapped = m_types.find_possible(call.trace.rank, type);
    if (!mapped || mapped->map->size() == 0 || count <= 0)
        return;
    if (m_dynamic.contains(window))
        return check_attached(call, *window, target, {*mapped, *offset, count});
    const Window::Member* const member = window->member(target);
    if (!member || !member->size || !member->disp_unit)
        return;
    const auto origin = static_cast<double>(*offset) * static_cast<double>(*member->disp_unit);
    const double begin = origin + static_cast<double>(mapped->map->begin());
    const double end = origin + static_cast<double>(mapped->map->end()) +
                       static_cast<double>(count - 1) * static_cast<double>(mapped->extent);
    if (begin < 0 || end > static_cast<double>(*member->size))
        report(FindingKind::invalid_argument, call,
               "accesses memory outside the window: that of rank " + std::to_string(target) + " has " +
                   std::to_string(*member->size) + " bytes, targetOffset=" + std::to_string(*offset) +
                   " targetCount=" + std::to_string(count));
}

void AccessCheck::check_attached(const Call& call, const Window& window, std::int64_t target,
                                 const Elements& accessed)
{
    const auto& [type, place_there, count] = accessed;
    std::int64_t begin = 0, last = 0, end = 0;
    if (__builtin_mul_overflow(count - 1, type.extent, &last) ||
        __builtin_add_overflow(last, place_there, &last) ||
        __builtin_add_overflow(place_there, type.map->begin(), &begin) ||
        __builtin_add_overflow(last, type.map->end(), &end))
        return;
    if (!m_attached.lacks(&window, target, begin, end))
        return;
    CallPlace place = place_of(m_findings.objects(), call);
    if (m_undecided_at.insert({call.trace.rank, place.site, target}).second)
        m_undecided.push_back({&window, target, begin, end, place,
                               call.state.name + at(place.site) + " accesses memory that rank " +
                                   std::to_string(target) + " has not attached to the window, targetOffset=" +
                                   std::to_string(place_there) + " targetCount=" + std::to_string(count)});
}

void AccessCheck::finish()
{
    const Project& project = m_findings.project().project;
    if (m_undecided.empty() || LeftOut(project).has_deeds())
        return;
    std::set<std::int64_t> whole; // the processes whose traces have what they did last
    for (const RunProcess& process : project.run.processes)
        if (process.cpu_times.size() > 1)
            whole.insert(process.rank);
    for (const Undecided& access : m_undecided)
        if (whole.contains(access.target) &&
            m_attached.lacks(access.window, access.target, access.begin, access.end))
            m_findings.report(FindingKind::invalid_argument, access.place, access.text);
}

void AccessCheck::check_data(const Call& call)
{
    const TypedData target = m_signatures.data(call.trace.rank, call.state, "targetCount", "targetTid");
    TypedData origin = m_signatures.data(call.trace.rank, call.state, "count", "tid");
    const auto op = call.state.find("op");
    if (call.facts.access == WindowAccess::get_accumulate && op && *op == "MPI_NO_OP")
        origin = m_signatures.data(call.trace.rank, call.state, "recvCount", "recvtid");
    if (!target.signature || !origin.signature)
        return;
    if (const auto types = difference(origin, target)) {
        report(FindingKind::message_type_mismatch, call,
               "has other types on both sides: here " + types->first + ", at the target " + types->second);
        return;
    }
    const auto values = [](const TypedData& data) {
        std::int64_t sum = 0;
        for (const BasicTypes& basic : *data.signature)
            sum += basic.count;
        return static_cast<double>(sum) * static_cast<double>(data.count);
    };
    if (origin.count >= 0 && target.count >= 0 && values(origin) != values(target))
        report(FindingKind::message_truncated, call,
               "has other amounts of data on both sides: here count=" + std::to_string(origin.count) +
                   ", targetCount=" + std::to_string(target.count));
}

} // namespace hdtrace
