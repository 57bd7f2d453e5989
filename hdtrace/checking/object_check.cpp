#include "hdtrace/checking/object_check.h"

#include <algorithm>
#include <optional>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

struct Leak {
    ObjectKind object;
    FindingKind finding;
};

constexpr Leak leaks[] = {
    {ObjectKind::communicator, FindingKind::communicator_not_freed},
    {ObjectKind::datatype, FindingKind::datatype_not_freed},
    {ObjectKind::group, FindingKind::group_not_freed},
    {ObjectKind::op, FindingKind::operation_not_freed},
    {ObjectKind::window, FindingKind::window_not_freed},
    {ObjectKind::file, FindingKind::file_not_closed},
    {ObjectKind::info, FindingKind::info_not_freed},
    {ObjectKind::errhandler, FindingKind::errhandler_not_freed},
    {ObjectKind::keyval, FindingKind::keyval_not_freed},
};

constexpr std::pair<std::string_view, ObjectKind> freeing_functions[] = {
    {"Comm_free", ObjectKind::communicator},
    {"Comm_disconnect", ObjectKind::communicator},
    {"Type_free", ObjectKind::datatype},
    {"Group_free", ObjectKind::group},
    {"Op_free", ObjectKind::op},
    {"Win_free", ObjectKind::window},
    {"File_close", ObjectKind::file},
    {"Info_free", ObjectKind::info},
    {"Errhandler_free", ObjectKind::errhandler},
    {"Comm_free_keyval", ObjectKind::keyval},
    {"Keyval_free", ObjectKind::keyval},
    {"Type_free_keyval", ObjectKind::keyval},
    {"Win_free_keyval", ObjectKind::keyval}};

/// What names an object in the trace: its id, or its handle. Keys of communicators, datatypes and windows are
/// counted apart. Nothing where the trace does not tell it.
std::string key_of(const Call& call, std::int64_t id)
{
    if (id >= 0)
        return std::to_string(id);
    if (const auto handle = call.state.find("handle"))
        return std::string(*handle);
    for (const std::string_view name : {"comm_keyval", "type_keyval", "win_keyval", "keyval"})
        if (const auto keyval = call.state.find(name))
            return (name == "keyval" ? "comm_keyval" : std::string(name)).append(*keyval);
    return {};
}

} // namespace

LeftOutCalls::LeftOutCalls(const Run& run)
{
    for (const RunFact& fact : run.facts) {
        const auto name = fact.fact.name == "Calls" ? fact.fact.find("name") : std::nullopt;
        if (!name || fact.fact.integer("ignored").value_or(0) == 0)
            continue;
        for (const RunFact::Ranks& ranks : fact.ranks)
            for (std::int64_t rank = ranks.first; rank <= ranks.last; ++rank)
                m_calls.emplace(*name, rank);
    }
}

bool LeftOutCalls::contains(std::int64_t rank, std::string_view function) const
{
    return m_calls.contains({std::string(function), rank});
}

bool LeftOutCalls::has_freeing(std::int64_t rank, ObjectKind kind) const
{
    return std::ranges::any_of(freeing_functions, [&](const auto& function) {
        return function.second == kind && contains(rank, function.first);
    });
}

bool ObjectCheck::must_be_freed(std::int64_t rank, ObjectKind kind, const Call& call, std::int64_t id) const
{
    switch (kind) {
    case ObjectKind::communicator:
    case ObjectKind::window:
    case ObjectKind::file:
        return id >= 0;
    case ObjectKind::datatype: {
        const Datatype* datatype = m_findings.objects().datatype(rank, id);
        return datatype && datatype->combiner != "NAMED" && !datatype->combiner.starts_with("F90_");
    }
    case ObjectKind::group: {
        const auto members = call.state.find("newgroup");
        return !members || !members->empty(); // the empty one is MPI's own
    }
    default:
        return true;
    }
}

void ObjectCheck::made(const Call& call, ObjectKind kind, std::int64_t id)
{
    const std::int64_t rank = call.trace.rank;
    if (call.is_inside_call || call.has_failed() || !must_be_freed(rank, kind, call, id))
        return;
    m_objects[{rank, kind}][key_of(call, id)].push_back(
        {place_of(m_findings.objects(), call), call.state.name});
}

void ObjectCheck::freed(const Call& call, ObjectKind kind, std::int64_t id)
{
    if (call.has_failed())
        return;
    const auto objects = m_objects.find({call.trace.rank, kind});
    if (objects == m_objects.end())
        return;
    const auto made = objects->second.find(key_of(call, id));
    if (made == objects->second.end())
        return;
    made->second.pop_back();
    if (made->second.empty())
        objects->second.erase(made);
}

void ObjectCheck::leave(const Call& call)
{
    if (call.facts.life == LifeCycle::ends && !call.state.is_unfinished())
        m_ended.insert(call.trace.rank);
}

void ObjectCheck::finish()
{
    for (const auto& [owner, objects] : m_objects)
        if (m_ended.contains(owner.first) && !m_left_out.has_freeing(owner.first, owner.second))
            report_leaks(owner.first, owner.second, objects);
}

/// What was made at one place is told once.
void ObjectCheck::report_leaks(std::int64_t rank, ObjectKind kind, const Objects& objects)
{
    const auto leak = std::ranges::find(leaks, kind, &Leak::object);
    if (leak == std::end(leaks))
        return;
    std::map<std::pair<const CallSite*, std::int64_t>, Made>
        places; // without a site by the line of the trace
    for (const auto& [key, all] : objects)
        for (const Made& made : all) {
            const std::int64_t line = made.place.site ? 0 : made.place.line;
            ++places.try_emplace({made.place.site, line}, made).first->second.count;
        }
    for (const auto& [ignored, made] : places)
        m_findings.report(leak->finding, made.place,
                          "rank " + std::to_string(rank) + " made " + std::to_string(made.count) + " " +
                              std::string(object_name(kind)) + (made.count == 1 ? "" : "s") + " by " +
                              made.call + at(made.place.site) + " that " +
                              (made.count == 1 ? "was" : "were") + " never " +
                              (kind == ObjectKind::file ? "closed" : "freed"));
}

} // namespace hdtrace
