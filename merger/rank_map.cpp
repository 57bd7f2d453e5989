#include "merger/rank_map.h"

#include "merger/trace_name.h"

#include <algorithm>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

/// Members that are not of this world have this number or a lower one.
constexpr std::int64_t foreign_rank = -4;
constexpr std::int64_t lowest_foreign = -(std::int64_t{1} << 31);

struct Range {
    std::int64_t first;
    std::int64_t last;
};

[[noreturn]] void fail(std::string_view entry, const std::string& what)
{
    throw std::invalid_argument("'" + std::string(entry.substr(0, 60)) + "' in the map " + what);
}

std::int64_t parse_foreign(std::string_view text, std::string_view entry)
{
    const auto number = label_number(text.substr(1));
    if (!number || -*number > foreign_rank || -*number < lowest_foreign)
        fail(entry, "is not world->local");
    return -*number;
}

std::int64_t parse_rank(std::string_view text, std::string_view entry, bool may_be_foreign)
{
    if (may_be_foreign && text.starts_with('-'))
        return parse_foreign(text, entry);
    const auto rank = label_number(text);
    if (!rank)
        fail(entry, "is not world->local");
    if (*rank >= process_limit)
        fail(entry, "is beyond " + std::to_string(process_limit) + " processes");
    return *rank;
}

Range parse_range(std::string_view text, std::string_view entry, bool may_be_foreign)
{
    constexpr std::string_view dots = "..";
    const std::size_t at = text.find(dots);
    if (at == std::string_view::npos) {
        const std::int64_t rank = parse_rank(text, entry, may_be_foreign);
        return {rank, rank};
    }
    return {parse_rank(text.substr(0, at), entry, may_be_foreign),
            parse_rank(text.substr(at + dots.size()), entry, may_be_foreign)};
}

RankRun parse_entry(std::string_view entry)
{
    constexpr std::string_view arrow = "->";
    const std::size_t at = entry.find(arrow);
    if (at == std::string_view::npos)
        fail(entry, "is not world->local");
    const Range world = parse_range(entry.substr(0, at), entry, true);
    const Range local = parse_range(entry.substr(at + arrow.size()), entry, false);
    if ((world.first < 0) != (world.last < 0))
        fail(entry, "is not world->local");
    if (world.last < world.first || world.last - world.first != local.last - local.first)
        fail(entry, "has ranges of different lengths");
    return {world.first, local.first, world.last - world.first + 1};
}

bool continues(const RankRun& run, const RankRun& next)
{
    return run.world + run.count == next.world && run.local + run.count == next.local;
}

/// In the order of the ranks, as few runs as possible.
void unite(std::vector<RankRun>& runs)
{
    std::ranges::sort(runs, {}, &RankRun::world);
    std::vector<RankRun> united;
    for (const RankRun& run : runs) {
        if (!united.empty() && continues(united.back(), run))
            united.back().count += run.count;
        else
            united.push_back(run);
    }
    runs = std::move(united);
    runs.shrink_to_fit();
}

void check_unique(const std::vector<RankRun>& runs)
{
    std::int64_t next = 0;
    for (const RankRun& run : runs) {
        if (run.world < next)
            throw std::invalid_argument("the map has rank " + std::to_string(run.world) + " twice");
        next = run.world + run.count;
    }
}

std::int64_t members(const std::vector<RankRun>& runs)
{
    std::int64_t count = 0;
    for (const RankRun& run : runs)
        count += run.count;
    return count;
}

} // namespace

RankMap::RankMap(std::string_view text)
{
    std::vector<RankRun> runs, foreign;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const RankRun run = parse_entry(text.substr(0, end));
        (run.world < 0 ? foreign : runs).push_back(run);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    *this = RankMap(std::move(runs), std::move(foreign));
}

RankMap::RankMap(std::vector<RankRun> runs, std::vector<RankRun> foreign)
    : m_runs(std::move(runs)), m_foreign(std::move(foreign))
{
    unite(m_runs);
    check_unique(m_runs);
    unite(m_foreign);
}

RankMap RankMap::shifted(std::int64_t offset) const
{
    RankMap map = *this;
    for (RankRun& run : map.m_runs)
        run.world += offset;
    return map;
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
    return members(m_runs);
}

std::int64_t RankMap::foreign_count() const
{
    return members(m_foreign);
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
