// rank_list.h - lists of ranks as they stand in attributes: "0;4..7;". MPI_GROUP_NULL stands for none.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hdtrace/format/element.h"
#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Of those that a neighbourhood operation names: ranks beyond are not in projects.
inline constexpr std::int64_t most_neighbours = 1 << 20;

/// Those below @p count, and not more than so many: files may hold any numbers.
inline std::vector<std::int64_t> ranks_in(std::string_view list, std::int64_t count)
{
    std::vector<std::int64_t> ranks;
    if (list.starts_with("MPI_"))
        return ranks;
    const auto next_number = [&] {
        std::int64_t number = 0;
        const char* end = std::from_chars(list.data(), list.data() + list.size(), number).ptr;
        list.remove_prefix(static_cast<std::size_t>(end - list.data()));
        return number;
    };
    while (!list.empty()) {
        const std::int64_t first = next_number();
        const bool is_range = list.starts_with("..");
        list.remove_prefix(is_range ? 2 : 0);
        const std::int64_t last = is_range ? next_number() : first;
        for (std::int64_t rank = std::max<std::int64_t>(first, 0);
             rank <= last && rank < count && std::ssize(ranks) < count; ++rank)
            ranks.push_back(rank);
        list.remove_prefix(std::min(list.size(), std::size_t{1}));
    }
    return ranks;
}

/// Of the group that a call names; none if it names none.
inline std::vector<std::int64_t> ranks_in(const Element& call, std::int64_t count)
{
    const auto list = call.find("ranks");
    return list ? ranks_in(*list, count) : std::vector<std::int64_t>();
}

/// Of a group of those that have the window.
inline std::vector<std::int64_t> ranks_in(const Element& call, const Window& window)
{
    std::int64_t behind = 0;
    for (const Window::Member& member : window.members)
        behind = std::max(behind, member.global + 1);
    return ranks_in(call, behind);
}

/// What a call lists of neighbours or dimensions; none if it lists nothing. No number that matters is larger
/// or negative.
inline std::vector<std::int64_t> numbers_in(const Element& call, const AttributeName& list)
{
    return ranks_in(call.find(list).value_or(""), most_neighbours);
}

} // namespace hdtrace
