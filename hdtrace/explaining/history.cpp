#include "hdtrace/explaining/history.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hdtrace {

std::int64_t History::begin() const
{
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    for (const Timeline& timeline : timelines)
        if (!timeline.steps.empty())
            begin = std::min(begin, timeline.begin());
    return begin == std::numeric_limits<std::int64_t>::max() ? 0 : begin;
}

std::int64_t History::end() const
{
    std::int64_t end = begin();
    for (const Timeline& timeline : timelines)
        if (!timeline.steps.empty())
            end = std::max(end, timeline.end());
    return end;
}

std::span<const Need> History::needs_of(std::uint32_t timeline) const
{
    const auto timeline_of = [](const Need& need) { return need.call.timeline; };
    return std::ranges::equal_range(needs, timeline, {}, timeline_of);
}

namespace {

/// Which steps of a timeline stay.
struct Kept {
    std::uint32_t first = 0, last = 0; // behind the last one

    bool has(std::uint32_t step) const { return step >= first && step < last; }
    bool renumber(StepId& id) const
    {
        const bool stays = has(id.step);
        id.step -= stays ? first : 0;
        return stays;
    }
};

Kept cut(Timeline& timeline, TimeInterval interval)
{
    const auto count = static_cast<std::uint32_t>(timeline.steps.size());
    Kept kept;
    while (kept.first < count && timeline.steps[kept.first].end < interval.begin)
        ++kept.first;
    kept.last = kept.first;
    while (kept.last < count && timeline.steps[kept.last].begin <= interval.end)
        ++kept.last;
    Steps steps;
    for (std::uint32_t i = kept.first; i < kept.last; ++i)
        steps.push_back(timeline.steps[i]);
    timeline.steps = std::move(steps);
    std::erase_if(timeline.left_out, [&](std::uint32_t step) { return !kept.has(step); });
    for (std::uint32_t& step : timeline.left_out)
        step -= kept.first;
    return kept;
}

} // namespace

void History::cut(TimeInterval interval)
{
    std::vector<Kept> kept;
    for (Timeline& timeline : timelines)
        kept.push_back(hdtrace::cut(timeline, interval));
    const auto renumber = [&](StepId& id) { return kept[id.timeline].renumber(id); };
    std::vector<Need> all_needs = std::exchange(needs, {});
    for (Need& need : all_needs)
        if (renumber(need.call) && renumber(need.of))
            needs.push_back(need);
    Series<Gathering> all_gatherings = std::exchange(gatherings, {});
    for (std::size_t i = 0; i < all_gatherings.size(); ++i) {
        Gathering& gathering = all_gatherings[i];
        bool is_whole = true;
        for (Gathering::Member& member : gathering.members) {
            is_whole = renumber(member.call) && is_whole;
            member.has_ended = renumber(member.end) && member.has_ended;
            if (!member.has_ended)
                member.end = member.call;
        }
        if (is_whole)
            gatherings.push_back(gathering);
    }
}

std::uint32_t PlaceIndex::number_of(const Place& place)
{
    const auto [found, is_new] = m_numbers.try_emplace(place, static_cast<std::uint32_t>(m_places.size()));
    if (is_new)
        m_places.push_back(place);
    return found->second;
}

std::size_t PlaceIndex::Hash::operator()(const Place& place) const
{
    std::size_t hash = std::hash<const void*>()(place.call);
    for (const std::int32_t part : {place.site, place.communicator, place.region, place.left})
        hash = hash * 0x9E3779B97F4A7C15u + static_cast<std::uint32_t>(part);
    return hash ^ (hash >> 29);
}

} // namespace hdtrace
