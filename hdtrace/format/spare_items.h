// spare_items.h - vectors that are filled again and again, whose items keep their memory meanwhile.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hdtrace::detail {

/// The item at @p position, which is at most one behind the last.
template <class Item> Item& item_at(std::vector<Item>& items, std::size_t position, std::vector<Item>& spare)
{
    if (position < items.size())
        return items[position];
    if (spare.empty())
        return items.emplace_back();
    items.push_back(std::move(spare.back()));
    spare.pop_back();
    return items.back();
}

/// Leaves the first @p count items. Some of the others are kept: items may come to one vector, and be
/// spared, more often than they are taken, where whoever reads them exchanges them for others.
template <class Item>
inline void shorten(std::vector<Item>& items, std::size_t count, std::vector<Item>& spare)
{
    constexpr std::size_t most_spare = 256;
    while (items.size() > count) {
        if (spare.size() < most_spare)
            spare.push_back(std::move(items.back()));
        items.pop_back();
    }
}

} // namespace hdtrace::detail
