#include "hdtrace/checking/agreed_arguments.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>
#include <vector>

#include "hdtrace/calls/calls.h"

namespace hdtrace {
namespace {

/// Which of the assertions of a fence only hold if all members give them (MPI 4.1, 12.5.5).
std::string agreed_assertions(std::string_view assertions)
{
    std::string agreed;
    for (const auto part : std::views::split(assertions, '|')) {
        const std::string_view assertion(part.begin(), part.end());
        if (assertion == "NOPRECEDE" || assertion == "NOSUCCEED")
            agreed += (agreed.empty() ? "" : "|") + std::string(assertion);
    }
    return agreed.empty() ? "0" : agreed;
}

bool is_logical(std::string_view name)
{
    static constexpr std::string_view logical[] = {"periods", "reorder", "remainDims", "high", "flag"};
    return std::ranges::find(logical, name) != std::end(logical);
}

/// Of numbers, one for each dimension perhaps: all but 0 are true.
std::string truths_of(std::string_view numbers)
{
    std::string truths;
    for (const auto part : std::views::split(numbers, ';'))
        truths += std::ranges::equal(part, std::string_view("0")) ? "0;" : "1;";
    return truths;
}

struct Value {
    std::string text;  ///< for people
    std::string value; ///< what is compared
};

/// Nothing if it is not known, or need not be the same.
std::optional<Value> value_of(const CollectiveCall& call, std::string_view name, TypeMaps& types)
{
    const std::optional<std::string_view> told = call.arguments->call.find(name);
    if (!told || (name == "splitType" && *told == "MPI_UNDEFINED")) // MPI 4.1, 7.4.2
        return std::nullopt;
    const std::string text(name);
    if (name == "assert")
        return Value{text + "=" + std::string(*told), agreed_assertions(*told)};
    if (is_logical(name))
        return Value{text + "=" + std::string(*told), truths_of(*told)};
    if (name != "etid")
        return Value{text + "=" + std::string(*told), std::string(*told)};
    const MappedType* const type =
        types.find_possible(call.rank, call.arguments->call.integer(name).value_or(-1));
    if (!type)
        return std::nullopt;
    const std::string extent = std::to_string(type->extent);
    return Value{"an etype whose extent is " + extent, extent};
}

std::optional<std::int64_t> side_of(const Collective& collective, const CollectiveCall& call)
{
    const Communicator::Member* const member = collective.communicator->member(call.rank);
    return member ? member->group : std::nullopt;
}

std::optional<DifferingArgument> find_differing(const std::vector<const CollectiveCall*>& calls,
                                                std::string_view name, TypeMaps& types)
{
    const CollectiveCall* first = nullptr;
    Value expected;
    for (const CollectiveCall* const call : calls) {
        const std::optional<Value> value = value_of(*call, name, types);
        if (!value)
            continue;
        if (!first) {
            first = call;
            expected = *value;
        } else if (value->value != expected.value) {
            return DifferingArgument{call, first, value->text, expected.text};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<DifferingArgument> find_differing_argument(const Collective& collective, TypeMaps& types)
{
    const std::string& name = collective.calls.front().name;
    const std::string_view agreed = facts_of(name).agreed;
    if (agreed.empty())
        return std::nullopt;
    std::array<std::vector<const CollectiveCall*>, 2> sides;
    for (const CollectiveCall& call : collective.calls)
        if (call.arguments && call.name == name)
            sides[side_of(collective, call).value_or(0) == 1].push_back(&call);
    for (const auto& calls : sides)
        for (const auto part : std::views::split(agreed, ' '))
            if (auto found = find_differing(calls, std::string_view(part.begin(), part.end()), types))
                return found;
    return std::nullopt;
}

} // namespace hdtrace
