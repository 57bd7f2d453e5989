#include "hdtrace/checking/variable_check.h"

#include <algorithm>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

constexpr AttributeName frames = "frames", objects = "objects", window = "window", pointers = "pointers";

std::string bytes(std::int64_t count)
{
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

/// "the variable table (int[10], 40 bytes)"
std::string described(const Variable& variable)
{
    return "the variable " + variable.name + " (" + (variable.type.empty() ? "" : variable.type + ", ") +
           bytes(variable.size) + ")";
}

/// "the variable table (int[10], 40 bytes) from its byte 8 on"
std::string described(const Variable& variable, std::int64_t offset)
{
    return described(variable) + (offset == 0 ? "" : " from its byte " + std::to_string(offset) + " on");
}

/// "the variable table (int[10], 40 bytes)", "what the variable table (int *) points to"
std::string holder(const Variable& variable)
{
    return variable.is_pointer ? "what the variable " + variable.name + " (" + variable.type + ") points to"
                               : described(variable);
}

std::string with_article(const std::string& kind)
{
    return (kind == "nothing"                                                   ? ""
            : std::string_view("aeiou").find(kind[0]) != std::string_view::npos ? "an "
                                                                                : "a ") +
           kind;
}

/// "values of another type (integer of 4 bytes) to the variable ..."; of a structure "an integer of 4 bytes
/// at byte 4 of the variable ..., where it has a character of 1 byte"
std::string text_of(const Misfit& found, const Variable& variable, bool is_written)
{
    const bool is_structure =
        variable.values.size() > 1 || variable.values[0].size * variable.values[0].count < variable.stride;
    if (!is_structure)
        return "values of another type (" + found.value + (is_written ? ") to " : ") from ") +
               holder(variable);
    return with_article(found.value) + " at byte " + std::to_string(found.place) + " of " + holder(variable) +
           ", where it has " + with_article(found.declared);
}

/// How many elements of its datatype there are.
std::int64_t elements_of(const CallBuffer& buffer, const MappedType& type)
{
    const std::int64_t behind_first = buffer.end - buffer.begin - (type.map->end() - type.map->begin());
    return type.extent > 0 ? behind_first / type.extent + 1 : 1;
}

/// Whether the parts of a datatype are where numbers of bytes say: then they may belong to several variables
/// (MPI 4.1, 5.1.12).
bool has_places_in_bytes(const ObjectTable& table, std::int64_t rank, std::int64_t type)
{
    constexpr int most_nesting = 100;
    const Datatype* datatype = table.datatype(rank, type);
    for (int i = 0; datatype != nullptr && i < most_nesting; ++i) {
        const std::string_view combiner = datatype->combiner;
        if (combiner == "NAMED" || combiner.starts_with("F90_"))
            return false;
        if (combiner.starts_with("STRUCT") || combiner.starts_with("H"))
            return true;
        datatype = table.datatype(rank, datatype->attributes.integer("oldType").value_or(-1));
    }
    return true;
}

} // namespace

/// Variables do not overlap.
const Variable* VariableCheck::Scope::find(std::int64_t address_in_memory) const
{
    std::int64_t place = 0;
    if (__builtin_sub_overflow(address_in_memory, address, &place)) // of a damaged trace
        return nullptr;
    const auto behind = std::ranges::upper_bound(*variables, place, {}, &Variable::place);
    if (behind == variables->begin())
        return nullptr;
    const Variable& variable = *std::prev(behind);
    return place - variable.place < variable.size ? &variable : nullptr;
}

/// "140800:8;". Those of which nothing is known are among them: what is in them is in no other.
template <class VariablesOf>
std::vector<VariableCheck::Scope> VariableCheck::scopes_in(const Call& call, const AttributeName& list,
                                                           VariablesOf variables_of) const
{
    static const std::vector<Variable> nothing;
    std::vector<Scope> scopes;
    for (std::string_view item : items_of(call.state, list)) {
        const std::int64_t address = take_number(item), number = take_number(item);
        if (address < 0 || address > TypeMap::most_bytes)
            continue;
        const CallSite* const site = m_findings.objects().call_site(call.trace.rank, number);
        const std::vector<Variable>* const variables = site ? variables_of(*site->places[0]) : nullptr;
        scopes.push_back({address, variables ? variables : &nothing});
    }
    return scopes;
}

VariableCheck::Scopes VariableCheck::scopes_of(const Call& call) const
{
    Scopes scopes = {scopes_in(call, frames, [](const CodePlace& place) { return &place.variables; }),
                     scopes_in(call, objects, [](const CodePlace& place) {
                         return place.object ? &place.object->variables : nullptr;
                     })};
    std::ranges::sort(scopes.frames, {}, &Scope::address);
    return scopes;
}

std::optional<VariableCheck::Placed> VariableCheck::find(const Scopes& scopes, std::int64_t address)
{
    const auto found_in = [&](const Scope& scope) -> std::optional<Placed> {
        const Variable* const variable = scope.find(address);
        return variable ? std::optional(Placed{variable, scope.address + variable->place}) : std::nullopt;
    };
    // Frames lie behind each other, so it is in the first one that ends behind it.
    const auto frame = std::ranges::upper_bound(scopes.frames, address, {}, &Scope::address);
    if (frame != scopes.frames.end())
        if (const auto found = found_in(*frame))
            return found;
    for (const Scope& object : scopes.objects)
        if (const auto found = found_in(object))
            return found;
    return {};
}

void VariableCheck::leave(const Call& call)
{
    if (!call.state.attributes.may_have(frames.bits() | objects.bits()) || call.is_inside_call ||
        call.has_failed() || call.state.is_unfinished())
        return;
    const Scopes scopes = scopes_of(call);
    if (scopes.frames.empty() && scopes.objects.empty())
        return;
    for (const CallBuffer& buffer : m_buffers.of(call)) {
        if (const auto placed = find(scopes, buffer.begin))
            check_buffer(call, buffer, *placed);
        else
            check_pointers(call, buffer, scopes);
    }
    for (const std::string_view item : items_of(call.state, window))
        check_window(call, item, scopes);
}

/// Of each process once for each place of a call.
bool VariableCheck::is_told(const Call& call, const Variable& variable)
{
    const CallSite* const site = place_of(m_findings.objects(), call).site;
    return !m_told.insert({call.trace.rank, site, &variable}).second;
}

/// Elements lie behind each other, but parts of one may be meant for other variables: such a part is beyond
/// only if it begins in this one.
bool VariableCheck::goes_beyond(const Call& call, const CallBuffer& buffer, const Placed& placed)
{
    if (buffer.end <= placed.end())
        return false;
    if (!has_places_in_bytes(m_findings.objects(), call.trace.rank, buffer.type))
        return true;
    const MappedType* const type = m_buffers.type(call.trace.rank, buffer.type);
    if (!type || type->map->size() == 0)
        return false;
    const std::int64_t count = elements_of(buffer, *type);
    if (buffer.begin + (count - 1) * type->extent >= placed.end())
        return true;
    const auto pieces = pieces_of(*type, buffer.begin - type->map->begin(), count);
    return std::ranges::any_of(pieces, [&](const auto& piece) {
        return placed.begin <= piece.first && piece.first < placed.end() && piece.second > placed.end();
    });
}

/// A receive that was ready for more than what came has done no harm; of what goes on behind its call that is
/// not known.
void VariableCheck::check_buffer(const Call& call, const CallBuffer& buffer, const Placed& placed)
{
    if (!goes_beyond(call, buffer, placed))
        return check_type(call, buffer, placed);
    if (is_told(call, *placed.variable))
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    const bool is_receive = buffer.is_written && call.facts.receives != ReceiveKind::none;
    const bool has_ended = is_receive && !call.state.integer("rid");
    const std::int64_t received =
        has_ended ? call.state.integer(AttributeName(call.facts.received_size)).value_or(0) : 0;
    const bool is_harmless = is_receive && received <= placed.end() - buffer.begin;
    const std::string text = call.state.name + at(place.site) + " of rank " + std::to_string(place.rank) +
                             (is_harmless         ? " may write "
                              : buffer.is_written ? " writes "
                                                  : " reads ") +
                             bytes(buffer.end - buffer.begin) + (buffer.is_written ? " to " : " of ") +
                             described(*placed.variable, buffer.begin - placed.begin);
    if (is_harmless)
        m_findings.report_as(Severity::warning, FindingKind::buffer_overrun, place, text);
    else
        m_findings.report(FindingKind::buffer_overrun, place, text);
}

/// Whether it is as @p variable, or what that points to, is declared; what it repeats begins at @p begin.
std::optional<Misfit> VariableCheck::misfit(const Call& call, const CallBuffer& buffer,
                                            const Variable& variable, std::int64_t begin)
{
    const TypeSignature* const signature =
        variable.values.empty() ? nullptr : m_signatures.find(call.trace.rank, buffer.type);
    const MappedType* const type = signature ? m_buffers.type(call.trace.rank, buffer.type) : nullptr;
    if (!type || type->map->size() == 0)
        return {};
    const Datatype* const datatype = m_findings.objects().datatype(call.trace.rank, buffer.type);
    const Asked asked = {&variable, datatype, buffer.begin - begin, buffer.end - buffer.begin};
    if (m_fitting.contains(asked))
        return {};
    const TypedMemory memory = {buffer.begin - type->map->begin(), elements_of(buffer, *type), *type,
                                *signature};
    auto found = find_misfit(variable, begin, memory);
    constexpr std::size_t most = 10'000;
    if (!found && m_fitting.size() < most)
        m_fitting.insert(asked);
    return found;
}

void VariableCheck::check_type(const Call& call, const CallBuffer& buffer, const Placed& placed)
{
    const Variable& variable = *placed.variable;
    const auto found = variable.is_pointer ? std::nullopt : misfit(call, buffer, variable, placed.begin);
    if (found)
        report(call, buffer, *found, variable);
}

/// Of memory that is no variable, if all pointers to it that the calling function has say something else; one
/// to void or characters may lead to anything.
void VariableCheck::check_pointers(const Call& call, const CallBuffer& buffer, const Scopes& scopes)
{
    std::optional<Misfit> first;
    const Variable* pointer = nullptr;
    for (std::string_view item : items_of(call.state, pointers)) {
        const std::int64_t to = take_number(item), place = take_number(item);
        const auto found = to == buffer.begin ? find(scopes, place) : std::nullopt;
        const bool is_number = found && !found->variable->is_pointer && !found->variable->values.empty();
        if (!found || found->begin != place || is_number)
            continue;
        auto next = found->variable->is_pointer ? misfit(call, buffer, *found->variable, to) : std::nullopt;
        if (!next)
            return;
        if (!first) {
            first = std::move(next);
            pointer = found->variable;
        }
    }
    if (first)
        report(call, buffer, *first, *pointer);
}

void VariableCheck::report(const Call& call, const CallBuffer& buffer, const Misfit& found,
                           const Variable& variable)
{
    if (is_told(call, variable))
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(FindingKind::buffer_type_mismatch, place,
                      call.state.name + at(place.site) + " of rank " + std::to_string(place.rank) +
                          (buffer.is_written ? " writes " : " reads ") +
                          text_of(found, variable, buffer.is_written));
}

void VariableCheck::check_window(const Call& call, std::string_view item, const Scopes& scopes)
{
    const std::int64_t begin = take_number(item), size = take_number(item);
    const auto placed = find(scopes, begin);
    if (!placed || size <= placed->end() - begin || is_told(call, *placed->variable))
        return;
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(FindingKind::buffer_overrun, place,
                      call.state.name + at(place.site) + " of rank " + std::to_string(place.rank) +
                          " makes a window of " + bytes(size) + " of " +
                          described(*placed->variable, begin - placed->begin));
}

} // namespace hdtrace
