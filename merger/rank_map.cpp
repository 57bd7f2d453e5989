#include "merger/rank_map.h"

#include "merger/trace_name.h"

#include <algorithm>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

/// The world rank of members that are not of this world.
constexpr std::string_view foreign_rank = "-4";

struct Range {
    std::int64_t first;
    std::int64_t last;
};

[[noreturn]] void fail(std::string_view entry, const std::string& what)
{
    throw std::invalid_argument("'" + std::string(entry.substr(0, 60)) + "' in the map " + what);
}

std::int64_t parse_rank(std::string_view text, std::string_view entry)
{
    const auto rank = label_number(text);
    if (!rank)
        fail(entry, "is not world->local");
    if (*rank >= process_limit)
        fail(entry, "is beyond " + std::to_string(process_limit) + " processes");
    return *rank;
}

Range parse_range(std::string_view text, std::string_view entry)
{
    constexpr std::string_view dots = "..";
    const std::size_t at = text.find(dots);
    if (at == std::string_view::npos) {
        const std::int64_t rank = parse_rank(text, entry);
        return {rank, rank};
    }
    return {parse_rank(text.substr(0, at), entry), parse_rank(text.substr(at + dots.size()), entry)};
}

RankRun parse_entry(std::string_view entry)
{
    constexpr std::string_view arrow = "->";
    const std::size_t at = entry.find(arrow);
    if (at == std::string_view::npos)
        fail(entry, "is not world->local");
    const Range world = parse_range(entry.substr(0, at), entry);
    const Range local = parse_range(entry.substr(at + arrow.size()), entry);
    if (world.last < world.first || world.last - world.first != local.last - local.first)
        fail(entry, "has ranges of different lengths");
    return {world.first, local.first, world.last - world.first + 1};
}

bool is_foreign(std::string_view entry)
{
    return entry.starts_with(foreign_rank) && entry.substr(foreign_rank.size()).starts_with("->");
}

bool continues(const RankRun& run, const RankRun& next)
{
    return run.world + run.count == next.world && run.local + run.count == next.local;
}

} // namespace

RankMap::RankMap(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        if (is_foreign(text.substr(0, end)))
            ++m_foreign_count;
        else
            add(parse_entry(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::vector<RankRun> runs = std::move(m_runs);
    m_runs.clear();
    std::ranges::sort(runs, {}, &RankRun::world);
    for (const RankRun& run : runs) {
        if (run.world <= highest())
            throw std::invalid_argument("the map has rank " + std::to_string(run.world) + " twice");
        add(run);
    }
    m_runs.shrink_to_fit();
}

void RankMap::add(const RankRun& run)
{
    if (!m_runs.empty() && continues(m_runs.back(), run))
        m_runs.back().count += run.count;
    else
        m_runs.push_back(run);
}

RankMap RankMap::identity(std::int64_t count)
{
    RankMap map;
    if (count > 0)
        map.m_runs.push_back({0, 0, count});
    return map;
}

std::int64_t RankMap::size() const
{
    std::int64_t size = 0;
    for (const RankRun& run : m_runs)
        size += run.count;
    return size;
}

bool RankMap::contains(std::int64_t world_rank) const
{
    const auto after = std::ranges::upper_bound(m_runs, world_rank, {}, &RankRun::world);
    return after != m_runs.begin() && world_rank < std::prev(after)->world + std::prev(after)->count;
}

std::string to_string(const RankMap& map)
{
    const auto range = [](std::int64_t first, std::int64_t count) {
        const std::string text = std::to_string(first);
        return count == 1 ? text : text + ".." + std::to_string(first + count - 1);
    };
    std::string text;
    for (const RankRun& run : map.runs())
        text += range(run.world, run.count) + "->" + range(run.local, run.count) + ";";
    return map.foreign_count() == 0 ? text
                                    : text + std::to_string(map.foreign_count()) + " of another world;";
}

} // namespace hdtrace::merger
