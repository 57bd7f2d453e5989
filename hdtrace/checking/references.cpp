#include "hdtrace/checking/references.h"

#include <optional>

#include "hdtrace/analysis/call_text.h"

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

} // namespace

void ReferenceCheck::leave(const Call& call)
{
    if (call.state.is_unfinished())
        return;
    check(call, call.state);
    for (const Element& child : call.state.children)
        check(call, child);
}

void ReferenceCheck::check(const Call& call, const Element& element)
{
    const std::int64_t rank = call.trace.rank;
    for (const Attribute& attribute : element.attributes) {
        const std::optional<ObjectKind> kind = find_reference(attribute.name);
        if (!kind)
            continue;
        const auto id = element.integer(attribute.name);
        if (id && *id != null_object && !is_described(m_findings.objects(), *kind, rank, *id) &&
            m_unknown.emplace(rank, *kind, *id).second) {
            const CallPlace place = place_of(m_findings.objects(), call);
            m_findings.report(FindingKind::reference, place,
                              call.state.name + at(place.site) + " names " + attribute.name + "='" +
                                  attribute.value + "', but the project has no such " +
                                  std::string(object_name(*kind)) + " of rank " + std::to_string(rank));
        }
    }
}

} // namespace hdtrace
