#include "hdtrace/checking/declared_values.h"

#include <algorithm>
#include <string_view>

namespace hdtrace {
namespace {

constexpr std::string_view integer = "integer", natural = "unsigned integer", logical = "logical value",
                           enumeration = "enumeration", floating = "floating point number",
                           complex = "complex number", character = "character", anything = "anything";

/// Others are bytes and characters, or not known.
bool is_number(std::string_view basic)
{
    constexpr std::string_view kinds[] = {integer, natural, floating, complex, logical};
    return std::ranges::any_of(kinds, [&](std::string_view kind) { return basic.starts_with(kind); });
}

/// Whether the values are declared as what is put @p place bytes behind the first of them.
bool may_hold(const ValueRun& run, std::int64_t place, const BasicTypes& basic)
{
    const auto is = [&](std::string_view kind, std::int64_t size) {
        return basic.size == size && basic.type == sized(kind, size);
    };
    const std::int64_t size = run.size;
    if (run.kind == anything || (run.kind == character && run.size * run.count >= basic.size))
        return true;
    if (run.kind == complex && is(floating, size / 2))
        return place % (size / 2) == 0;
    if (place % size != 0)
        return false;
    if (run.kind == integer || run.kind == natural)
        return is(run.kind, size) || is(logical, size);
    if (run.kind == logical || run.kind == enumeration)
        return is(logical, size) || is(integer, size) || is(natural, size);
    if (run.kind == floating)
        return is(floating, size) || is(complex, 2 * size);
    return run.kind == complex ? is(complex, size) : false;
}

std::optional<Misfit> misfit_at(const Variable& variable, std::int64_t offset, const BasicTypes& basic)
{
    const std::int64_t place = (offset % variable.stride + variable.stride) % variable.stride;
    const auto run = std::ranges::find_if(variable.values, [&](const ValueRun& run) {
        return run.place <= place && place < run.place + run.size * run.count;
    });
    if (run == variable.values.end())
        return Misfit{basic.type, place, "nothing"};
    if (may_hold(*run, place - run->place, basic))
        return {};
    return Misfit{basic.type, place, sized(run->kind, run->size)};
}

/// Parts of a datatype may be meant for other variables (MPI 4.1, 5.1.12); memory that a pointer leads to
/// ends somewhere unknown.
bool is_in(const Variable& variable, std::int64_t offset)
{
    return variable.is_pointer || (offset >= 0 && offset < variable.size);
}

/// Gives visit(place, basic) each value of one element, as its data goes on in pieces, until it says false.
template <class Visit> bool visit_values(const TypedMemory& memory, std::int64_t origin, Visit visit)
{
    auto run = memory.signature.begin();
    std::int64_t left = run == memory.signature.end() ? 0 : run->count;
    return memory.type.map->visit_pieces(origin, 0, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end && run != memory.signature.end()) {
            if (run->size <= 0 || !visit(begin, *run))
                return false;
            begin += run->size;
            if (--left == 0 && ++run != memory.signature.end())
                left = run->count;
        }
        return true;
    });
}

} // namespace

std::optional<Misfit> find_misfit(const Variable& variable, std::int64_t begin, const TypedMemory& memory)
{
    constexpr int most = 1000;
    std::optional<Misfit> found;
    if (variable.values.empty() || variable.stride <= 0 || memory.type.map->size() == 0)
        return found;
    if (variable.is_pointer && memory.origin == 0) // MPI_BOTTOM: each part may be in memory of its own
        return found;
    int values = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(memory.count, most) && values < most && !found; ++i)
        visit_values(memory, memory.origin + i * memory.type.extent,
                     [&](std::int64_t place, const BasicTypes& basic) {
                         if (is_number(basic.type) && is_in(variable, place - begin))
                             found = misfit_at(variable, place - begin, basic);
                         return !found && ++values < most;
                     });
    return found;
}

} // namespace hdtrace
