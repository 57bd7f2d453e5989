#include "hdtrace/checking/references.h"

#include <bit>
#include <optional>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

constexpr std::int64_t null_object = -1;

} // namespace

bool ReferenceCheck::is_described(ObjectKind kind, std::int64_t rank, std::int64_t id) const
{
    switch (kind) {
    case ObjectKind::communicator:
        return m_objects.communicator(rank, id) != nullptr;
    case ObjectKind::datatype:
        return m_objects.datatype(rank, id) != nullptr;
    case ObjectKind::file:
        return m_objects.file(rank, id) != nullptr;
    case ObjectKind::window:
        return m_objects.window(rank, id) != nullptr;
    default:
        return true; // others have no ids
    }
}

void ReferenceCheck::check(const TraceFile& trace, const State& state)
{
    if (state.is_event)
        return;
    for (const State& nested : state.nested)
        check(trace, nested);
    if (state.is_unfinished())
        return;
    check(trace, state, state);
    for (const Element& child : state.children)
        check(trace, state, child);
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

void ReferenceCheck::check(const TraceFile& trace, const State& state, const Element& element)
{
    const AttributeList& attributes = element.attributes;
    for (std::uint64_t slots = attributes.name_bits() & m_bits; slots != 0; slots &= slots - 1)
        for (const auto& [name, kind] : m_names[std::countr_zero(slots)]) {
            const auto found = attributes.find_exactly(name);
            const auto id = found ? attributes.number(*found) : std::nullopt;
            if (!id || *id == null_object || is_described(kind, trace.rank, *id))
                continue;
            const SiteOfCall site(m_objects, trace.rank, state.integer("site").value_or(-1));
            m_unknown.try_emplace({trace.rank, kind, *id},
                                  Unknown{{trace.rank, trace.thread, state.line, site},
                                          state.name,
                                          std::string(attributes[*found].name),
                                          std::string(attributes[*found].value)});
        }
}

void ReferenceCheck::report(Findings& findings) const
{
    for (const auto& [object, named] : m_unknown) {
        const auto& [rank, kind, id] = object;
        findings.report(FindingKind::reference, named.place,
                        named.call + at(named.place.site) + " names " + named.attribute + "='" + named.value +
                            "', but the project has no such " + std::string(object_name(kind)) + " of rank " +
                            std::to_string(rank));
    }
}

} // namespace hdtrace
