#include "hdtrace/format/project_ranks.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

#include "hdtrace/calls/calls.h"
#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

// Of child elements: what was received, and the parts of collective calls.
constexpr std::string_view ranks_of_children[] = {"fromRank", "rank"};

// What stands between the numbers of a list: 1;2;8..15;
constexpr std::string_view separators = ";.";

} // namespace

ProjectRanks::ProjectRanks(const Project& project, std::int64_t rank)
{
    for (const World& world : project.worlds) {
        if (rank >= world.first && rank - world.first < world.size)
            m_first = world.first;
    }
    for (const ForeignRanks& ranks : project.foreign_ranks) {
        if (rank >= ranks.first && rank <= ranks.last)
            m_foreign = ranks.runs;
    }
}

std::int64_t ProjectRanks::rank(std::int64_t in_trace) const
{
    if (in_trace >= 0)
        return in_trace > INT64_MAX - m_first ? in_trace : in_trace + m_first;
    if (in_trace > other_world)
        return in_trace;
    const auto next = std::ranges::upper_bound(m_foreign, in_trace, {}, &ForeignRanks::Run::number);
    if (next == m_foreign.begin() || in_trace - std::prev(next)->number >= std::prev(next)->count)
        return other_world;
    return std::prev(next)->rank + (in_trace - std::prev(next)->number);
}

void ProjectRanks::translate(State& state) const
{
    for (State& nested : state.nested)
        translate(nested);
    if (find_call(state.name))
        translate_call(state);
}

void ProjectRanks::translate_call(State& call) const
{
    translate(call.attributes, rank_attributes_of(call.name));
    for (Element& child : call.children)
        translate(child.attributes, ranks_of_children);
}

void ProjectRanks::translate(AttributeList& attributes, std::span<const std::string_view> names) const
{
    for (std::size_t i = 0; i < attributes.size(); ++i)
        if (std::ranges::find(names, attributes[i].name) != names.end())
            attributes.set_value(i, translated(attributes[i].value));
}

std::string ProjectRanks::translated(std::string_view ranks) const
{
    std::string text;
    for (std::string_view rest = ranks; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find_first_of(separators));
        rest.remove_prefix(part.size());
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        const bool is_number = error == std::errc() && end == part.data() + part.size();
        text += is_number ? std::to_string(rank(number)) : std::string(part);
        const std::size_t next = std::min(rest.find_first_not_of(separators), rest.size());
        text += rest.substr(0, next);
        rest.remove_prefix(next);
    }
    return text;
}

} // namespace hdtrace
