#include "hdtrace/checking/references.h"

#include <bit>
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

ReferenceCheck::Names ReferenceCheck::names()
{
    Names names;
    for (const Reference& reference : all_references()) {
        const AttributeName name(reference.attribute);
        names[detail::slot_of_key(name.key())].push_back({name, reference.kind});
    }
    return names;
}

std::uint64_t ReferenceCheck::bits_of(const Names& names)
{
    std::uint64_t bits = 0;
    for (std::size_t slot = 0; slot < names.size(); ++slot)
        bits |= names[slot].empty() ? 0 : std::uint64_t{1} << slot;
    return bits;
}

void ReferenceCheck::check(const Call& call, const Element& element)
{
    const AttributeList& attributes = element.attributes;
    for (std::uint64_t slots = attributes.name_bits() & m_bits; slots != 0; slots &= slots - 1)
        for (const Name& name : m_names[std::countr_zero(slots)]) {
            const auto found = attributes.find_exactly(name.attribute);
            const auto id = found ? attributes.number(*found) : std::nullopt;
            if (id && *id != null_object)
                check(call, name, attributes[*found], *id);
        }
}

void ReferenceCheck::check(const Call& call, const Name& name, const Attribute& attribute, std::int64_t id)
{
    const std::int64_t rank = call.trace.rank;
    if (is_described(m_findings.objects(), name.kind, rank, id) ||
        !m_unknown.emplace(rank, name.kind, id).second)
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(FindingKind::reference, place,
                      call.state.name + at(place.site) + " names " + std::string(attribute.name) + "='" +
                          std::string(attribute.value) + "', but the project has no such " +
                          std::string(object_name(name.kind)) + " of rank " + std::to_string(rank));
}

} // namespace hdtrace
