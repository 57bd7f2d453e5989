#include "hdtrace/analysis/call_sums.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::string_view names[grouping_count] = {
    "call", "class", "rank", "thread", "peer", "communicator", "communicator-size",
    "file", "size",  "site", "region"};

void add_visits(Totals& region, const Totals& visits)
{
    region.entered += visits.calls;
    region.inside = saturated_sum(region.inside, visits.time);
}

bool is_number(Grouping grouping)
{
    switch (grouping) {
    case Grouping::rank:
    case Grouping::thread:
    case Grouping::peer:
    case Grouping::communicator_size:
    case Grouping::size:
        return true;
    default:
        return false;
    }
}

// A rank and one of its threads in one number, in their order.
constexpr int thread_bits = 24;

std::string thread_label(std::int64_t key)
{
    const std::int64_t rank = key >> thread_bits;
    return std::to_string(rank) + "." + std::to_string(key - (rank << thread_bits));
}

std::string peer_label(std::int64_t rank)
{
    if (rank <= other_world) // below that, which process it is (docs/format.md)
        return "another world" + (rank < other_world ? " (" + std::to_string(rank) + ")" : "");
    return rank == any_rank ? "any" : std::to_string(rank);
}

// "64..127": the sizes whose highest bit is the same.
std::string sizes_with_width(std::int64_t width)
{
    if (width == 0)
        return "0";
    const std::uint64_t first = std::uint64_t{1} << (width - 1);
    return width == 1 ? "1" : std::to_string(first) + ".." + std::to_string(2 * first - 1);
}

constexpr std::int32_t unknown = -1;

/// The keys of a group, with others for names and regions.
std::vector<std::int64_t> translated(std::vector<std::int64_t> keys, const Groupings& groupings,
                                     const std::vector<std::int32_t>& names,
                                     const std::vector<std::int32_t>& regions)
{
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (groupings[i] == Grouping::call)
            keys[i] = names[keys[i]];
        else if (groupings[i] == Grouping::region)
            keys[i] = regions[keys[i]];
    }
    return keys;
}

} // namespace

void add_to(Totals& totals, const Totals& more)
{
    if (more.calls > 0)
        totals.shortest = totals.calls > 0 ? std::min(totals.shortest, more.shortest) : more.shortest;
    totals.calls += more.calls;
    totals.time = saturated_sum(totals.time, more.time);
    totals.exclusive = saturated_sum(totals.exclusive, more.exclusive);
    totals.longest = std::max(totals.longest, more.longest);
    totals.bytes = saturated_sum(totals.bytes, more.bytes);
    totals.volume += more.volume;
    totals.entered += more.entered;
    totals.inside = saturated_sum(totals.inside, more.inside);
}

std::string_view grouping_name(Grouping grouping)
{
    return names[static_cast<std::size_t>(grouping)];
}

std::optional<std::int64_t> size_key(const std::optional<Volume>& volume)
{
    if (!volume)
        return {};
    return std::bit_width(static_cast<std::uint64_t>(std::max(volume->sent, volume->received)));
}

std::int64_t thread_key(const TraceFile& trace)
{
    return (trace.rank << thread_bits) + trace.thread;
}

GroupLabels::GroupLabels(std::shared_ptr<const OpenedProject> project) : m_project(std::move(project))
{
    for (const CallSite& site : m_project->project.call_sites)
        m_site_codes.push_back(m_site_texts.code_of(stack_text(site)));
}

std::string GroupLabels::text(Grouping grouping, std::int64_t key) const
{
    switch (grouping) {
    case Grouping::call_class:
        return std::string(class_name(static_cast<CallClass>(key)));
    case Grouping::thread:
        return thread_label(key);
    case Grouping::peer:
        return peer_label(key);
    case Grouping::communicator:
        return m_project->communicator_labels[key];
    case Grouping::file:
        return m_project->file_labels[key];
    case Grouping::site:
        return m_site_texts.texts()[key];
    case Grouping::size:
        return sizes_with_width(key);
    default:
        return std::to_string(key);
    }
}

std::size_t CallSums::KeysHash::operator()(const TableKeys& keys) const
{
    std::size_t hash = 0;
    for (const std::int64_t key : keys)
        hash = (hash ^ std::hash<std::int64_t>()(key)) * 0x9e3779b97f4a7c15;
    return hash;
}

CallSums::CallSums(const std::vector<Groupings>& tables)
{
    for (const Groupings& groupings : tables)
        m_tables.push_back(
            {groupings, std::ranges::find(groupings, Grouping::region) != groupings.end(), {}, {}});
    m_regions.code_of({}, {.time = std::numeric_limits<std::int64_t>::min()}); // outside comes first
}

std::int32_t CallSums::SeenTexts::code_of(std::string_view text, const StatePlace& place)
{
    const std::int32_t code = m_texts.code_of(text);
    if (static_cast<std::size_t>(code) == m_places.size()) {
        m_places.push_back(place);
        m_places.back().number = code;
    }
    return code;
}

std::vector<std::int32_t> CallSums::SeenTexts::merge(const SeenTexts& others)
{
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; i < others.m_places.size(); ++i) {
        const std::int32_t code = m_texts.code_of(others.m_texts.texts()[i]);
        if (static_cast<std::size_t>(code) == m_places.size())
            m_places.push_back(others.m_places[i]);
        m_places[code] = std::min(m_places[code], others.m_places[i]);
        codes.push_back(code);
    }
    return codes;
}

std::vector<std::int32_t> CallSums::SeenTexts::positions() const
{
    std::vector<std::int32_t> order(m_places.size()), positions(m_places.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::int32_t code) { return m_places[code]; });
    for (std::size_t i = 0; i < order.size(); ++i)
        positions[order[i]] = static_cast<std::int32_t>(i);
    return positions;
}

std::int32_t CallSums::code_of_region(const RegionPaths& paths, std::int32_t path, const StatePlace& place)
{
    const auto position = static_cast<std::size_t>(path);
    if (position >= m_region_codes.size())
        m_region_codes.resize(position + 1, unknown);
    if (m_region_codes[position] == unknown)
        m_region_codes[position] = m_regions.code_of(paths.text(path), place);
    return m_region_codes[position];
}

void CallSums::add_time(const State& state)
{
    m_begin = m_is_any ? std::min(m_begin, state.time) : state.time;
    m_end = m_is_any ? std::max(m_end, state.end) : state.end;
    m_is_any = true;
}

// Null if the call has no group in it.
Totals* CallSums::group_of(Table& table, const Keys& keys)
{
    m_table_keys.clear();
    for (const Grouping grouping : table.groupings) {
        const Key& key = keys[static_cast<std::size_t>(grouping)];
        if (!key)
            return nullptr;
        m_table_keys.push_back(*key);
    }
    auto& recent = table.recent[KeysHash()(m_table_keys) % table.recent.size()];
    if (!recent || recent->first != m_table_keys)
        recent = &*table.groups.try_emplace(m_table_keys).first;
    return &recent->second;
}

void CallSums::add_call(const Keys& keys, const Totals& calls)
{
    add_to(m_totals, calls);
    for (Table& table : m_tables)
        if (Totals* const group = group_of(table, keys))
            add_to(*group, calls);
}

void CallSums::add_region(const Keys& keys, const Totals& visits)
{
    add_to(m_totals, visits);
    for (Table& table : m_tables)
        if (Totals* const group = group_of(table, keys)) {
            if (table.is_by_region)
                add_visits(*group, visits);
            else
                add_to(*group, visits);
        }
}

void CallSums::merge(const CallSums& others)
{
    const std::vector<std::int32_t> names = m_names.merge(others.m_names),
                                    regions = m_regions.merge(others.m_regions);
    for (std::size_t i = 0; i < m_tables.size(); ++i)
        for (const auto& [keys, totals] : others.m_tables[i].groups)
            add_to(m_tables[i].groups[translated(keys, m_tables[i].groupings, names, regions)], totals);
    add_to(m_totals, others.m_totals);
    if (others.m_is_any) {
        m_begin = m_is_any ? std::min(m_begin, others.m_begin) : others.m_begin;
        m_end = m_is_any ? std::max(m_end, others.m_end) : others.m_end;
        m_is_any = true;
    }
}

std::string CallSums::label_of(Grouping grouping, std::int64_t key, const GroupLabels& labels) const
{
    switch (grouping) {
    case Grouping::call:
        return m_names.text(key);
    case Grouping::region:
        return m_regions.text(key);
    default:
        return labels.text(grouping, key);
    }
}

std::vector<Group> CallSums::groups(const Groupings& groupings, const GroupLabels& labels) const
{
    const auto table = std::ranges::find(m_tables, groupings, &Table::groupings);
    if (table == m_tables.end())
        throw std::invalid_argument("calls were not grouped like this");
    const std::vector<std::int32_t> names = m_names.positions(), regions = m_regions.positions();
    struct Row {
        TableKeys order;
        const TableKeys* keys;
        const Totals* totals;
    };
    std::vector<Row> sorted;
    for (const auto& [keys, totals] : table->groups)
        sorted.push_back({translated(keys, groupings, names, regions), &keys, &totals});
    std::ranges::sort(sorted, {}, &Row::order);
    if (!std::ranges::all_of(groupings, is_number))
        std::ranges::stable_sort(sorted, std::ranges::greater(),
                                 [](const Row& row) { return row.totals->time; });
    std::vector<Group> groups;
    for (const Row& row : sorted) {
        Group& group = groups.emplace_back(Group{{}, *row.totals});
        for (std::size_t i = 0; i < groupings.size(); ++i)
            group.labels.push_back(label_of(groupings[i], (*row.keys)[i], labels));
    }
    return groups;
}

} // namespace hdtrace
