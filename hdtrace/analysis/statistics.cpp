#include "hdtrace/analysis/statistics.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::string_view names[grouping_count] = {
    "call", "class", "rank", "thread", "peer", "communicator", "communicator-size",
    "file", "size",  "site", "region"};

void add_to(Totals& totals, const Totals& call)
{
    if (call.calls > 0)
        totals.shortest = totals.calls > 0 ? std::min(totals.shortest, call.shortest) : call.shortest;
    totals.calls += call.calls;
    totals.time = saturated_sum(totals.time, call.time);
    totals.exclusive = saturated_sum(totals.exclusive, call.exclusive);
    totals.longest = std::max(totals.longest, call.longest);
    totals.bytes = saturated_sum(totals.bytes, call.bytes);
    totals.volume += call.volume;
    totals.entered += call.entered;
    totals.inside = saturated_sum(totals.inside, call.inside);
}

void add_visit(Totals& region, std::int64_t time)
{
    ++region.entered;
    region.inside = saturated_sum(region.inside, time);
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

std::int64_t thread_key(const TraceFile& trace)
{
    return (trace.rank << thread_bits) + trace.thread;
}

std::string thread_label(std::int64_t key)
{
    const std::int64_t rank = key >> thread_bits;
    return std::to_string(rank) + "." + std::to_string(key - (rank << thread_bits));
}

// Whom a call sends to, else whom it receives from.
std::optional<std::int64_t> peer_of(const State& call)
{
    auto peer = call.integer("toRank");
    if (!peer || *peer == proc_null)
        peer = call.integer("fromRank");
    return peer == proc_null ? std::nullopt : peer;
}

std::string peer_label(std::int64_t rank)
{
    return rank == any_rank ? "any" : rank == other_world ? "another world" : std::to_string(rank);
}

// "64..127": the sizes whose highest bit is the same.
std::string sizes_with_width(std::int64_t width)
{
    if (width == 0)
        return "0";
    const std::uint64_t first = std::uint64_t{1} << (width - 1);
    return width == 1 ? "1" : std::to_string(first) + ".." + std::to_string(2 * first - 1);
}

template <class Object>
std::optional<std::int64_t> key_in(const std::vector<Object>& list, const Object* object)
{
    return object ? std::optional<std::int64_t>(position_in(list, *object)) : std::nullopt;
}

// Names of regions may have slashes, so that two paths read the same.
void unite_equal(std::vector<Group>& groups)
{
    std::map<std::vector<std::string>, std::size_t> places;
    std::vector<Group> united;
    for (const Group& group : groups) {
        const auto [place, is_new] = places.try_emplace(group.labels, united.size());
        if (is_new)
            united.push_back(group);
        else
            add_to(united[place->second].totals, group.totals);
    }
    groups = std::move(united);
}

bool is_region(const Call& call)
{
    return call.own_region != RegionPaths::outside;
}

Selection rows_of(const Project& project, Selection selection)
{
    selection.unfinished = true;
    selection.interval = inside_part(project, selection.interval);
    return selection;
}

} // namespace

std::string_view grouping_name(Grouping grouping)
{
    return names[static_cast<std::size_t>(grouping)];
}

std::size_t Statistics::KeysHash::operator()(const Keys& keys) const
{
    std::size_t hash = 0;
    for (const std::int64_t key : keys)
        hash = (hash ^ std::hash<std::int64_t>()(key)) * 0x9e3779b97f4a7c15;
    return hash;
}

Statistics::Statistics(std::shared_ptr<const OpenedProject> project, Selection selection,
                       std::vector<Groupings> tables)
    : m_project(std::move(project)), m_rows(rows_of(m_project->project, selection)),
      m_counts_unfinished(selection.unfinished),
      m_states(m_project->existing_traces(),
               with_prepared(m_project->project, with_regions(m_project->project, without_names(m_rows))))
{
    if (tables.empty())
        for (std::size_t i = 0; i < grouping_count; ++i)
            tables.push_back({static_cast<Grouping>(i)});
    for (Groupings& groupings : tables) {
        for (const Grouping grouping : groupings)
            m_is_wanted[static_cast<std::size_t>(grouping)] = true;
        m_tables.push_back({std::move(groupings), {}});
    }
    for (const CallSite& site : m_project->project.call_sites)
        m_site_codes.push_back(m_site_texts.code_of(stack_text(site)));
}

bool Statistics::read(std::size_t states)
{
    return m_walk.add_some(m_states, states);
}

void Statistics::mark(const Call& event)
{
    if (m_rows.interval.counts(event.state.time) && event_kind(event.state) == EventKind::count)
        m_counters.add(event.trace, event.state);
}

// Those that ended inside a call or region did so one level below it. What began before anything was read can
// seem to be longer than what it is in.
std::int64_t Statistics::exclusive_time(const Call& call, std::int64_t time)
{
    std::vector<std::int64_t>& inside = m_inside[{call.trace.rank, call.trace.thread}];
    const auto depth = static_cast<std::size_t>(call.depth);
    if (inside.size() < depth + 2)
        inside.resize(depth + 2);
    const std::int64_t exclusive = std::max<std::int64_t>(0, saturated_difference(time, inside[depth + 1]));
    inside[depth + 1] = 0;
    inside[depth] = saturated_sum(inside[depth], time);
    return exclusive;
}

bool Statistics::is_selected(const Call& call)
{
    const State& state = call.state;
    if (!m_rows.wants(state))
        return false;
    if (m_rows.interval.counts(is_region(call) ? state.end : state.time))
        return true;
    if (!is_region(call) && state.time < m_rows.interval.begin)
        ++m_begun_before;
    return false;
}

void Statistics::count(const Call& call)
{
    const State& state = call.state;
    m_volume = m_volumes.of(call);
    const std::int64_t time = saturated_difference(state.end, state.time);
    const std::int64_t exclusive = exclusive_time(call, time);
    if (!is_selected(call))
        return;
    m_begin = m_is_any ? std::min(m_begin, state.time) : state.time;
    m_end = m_is_any ? std::max(m_end, state.end) : state.end;
    m_is_any = true;
    if (state.is_unfinished() && !m_counts_unfinished) {
        ++m_unfinished;
        return;
    }
    const Totals one = {.calls = 1,
                        .time = time,
                        .exclusive = exclusive,
                        .shortest = time,
                        .longest = time,
                        .bytes = bytes_of(call, m_volume),
                        .volume = m_volume.value_or(Volume())};
    add_to(m_totals, one);
    for (std::size_t i = 0; i < grouping_count; ++i)
        if (m_is_wanted[i])
            m_keys[i] = key_of(static_cast<Grouping>(i), call);
    for (Table& table : m_tables)
        count_in(table, call, one);
}

// A region is no call of its table, but one that was entered and left.
void Statistics::count_in(Table& table, const Call& call, const Totals& one)
{
    Keys keys;
    bool by_region = false;
    for (const Grouping grouping : table.groupings) {
        const Key key = m_keys[static_cast<std::size_t>(grouping)];
        if (!key)
            return;
        keys.push_back(*key);
        by_region = by_region || grouping == Grouping::region;
    }
    Totals& group = table.groups[std::move(keys)];
    if (by_region && is_region(call))
        add_visit(group, one.time);
    else
        add_to(group, one);
}

Statistics::Key Statistics::key_of(Grouping grouping, const Call& call)
{
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    const ObjectTable& objects = m_project->objects;
    const Project& project = m_project->project;
    switch (grouping) {
    case Grouping::call:
        return m_names.code_of(state.name);
    case Grouping::call_class:
        return static_cast<std::int64_t>(call.facts.call_class);
    case Grouping::rank:
        return rank;
    case Grouping::thread:
        return thread_key(call.trace);
    case Grouping::peer:
        return peer_of(state);
    case Grouping::communicator:
        return key_in(project.communicators, objects.communicator(rank, state));
    case Grouping::communicator_size: {
        const Communicator* const communicator = objects.communicator(rank, state);
        return communicator ? Key(static_cast<std::int64_t>(communicator->members.size())) : std::nullopt;
    }
    case Grouping::file:
        return key_in(project.files, objects.file(rank, state));
    case Grouping::site: {
        const Key site = key_in(project.call_sites, objects.call_site(rank, state));
        return site ? Key(m_site_codes[*site]) : std::nullopt;
    }
    case Grouping::region:
        return is_region(call) ? call.own_region : call.region;
    case Grouping::size:
        break;
    }
    return size_key();
}

Statistics::Key Statistics::size_key() const
{
    if (!m_volume)
        return {};
    return std::bit_width(static_cast<std::uint64_t>(std::max(m_volume->sent, m_volume->received)));
}

std::string Statistics::label_of(Grouping grouping, std::int64_t key) const
{
    switch (grouping) {
    case Grouping::call:
        return m_names.texts()[key];
    case Grouping::call_class:
        return std::string(class_name(static_cast<CallClass>(key)));
    case Grouping::rank:
    case Grouping::communicator_size:
        return std::to_string(key);
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
    case Grouping::region:
        return m_walk.regions().text(static_cast<std::int32_t>(key));
    case Grouping::size:
        break;
    }
    return sizes_with_width(key);
}

std::vector<Group> Statistics::groups(const Groupings& groupings) const
{
    const auto table = std::ranges::find(m_tables, groupings, &Table::groupings);
    if (table == m_tables.end())
        throw std::invalid_argument("calls were not grouped like this");
    std::vector<std::pair<Keys, Totals>> sorted(table->groups.begin(), table->groups.end());
    std::ranges::sort(sorted, {}, &std::pair<Keys, Totals>::first);
    if (!std::ranges::all_of(groupings, is_number))
        std::ranges::stable_sort(sorted, std::ranges::greater(),
                                 [](const auto& group) { return group.second.time; });
    std::vector<Group> groups;
    for (const auto& [keys, totals] : sorted) {
        Group& group = groups.emplace_back(Group{{}, totals});
        for (std::size_t i = 0; i < keys.size(); ++i)
            group.labels.push_back(label_of(groupings[i], keys[i]));
    }
    if (std::ranges::find(groupings, Grouping::region) != groupings.end())
        unite_equal(groups);
    return groups;
}

} // namespace hdtrace
