#include "hdtrace/analysis/statistics.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::string_view names[grouping_count] = {"call", "class", "rank", "communicator",
                                                    "file", "size",  "site", "region"};

void add_to(Totals& totals, const Totals& call)
{
    totals.calls += call.calls;
    totals.time = saturated_sum(totals.time, call.time);
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

bool sends_or_receives(CallClass call_class)
{
    return call_class == CallClass::point_to_point || call_class == CallClass::collective ||
           call_class == CallClass::one_sided;
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
    std::unordered_map<std::string, std::size_t> places;
    std::vector<Group> united;
    for (const Group& group : groups) {
        const auto [place, is_new] = places.try_emplace(group.label, united.size());
        if (is_new)
            united.push_back(group);
        else
            add_to(united[place->second].totals, group.totals);
    }
    groups = std::move(united);
}

} // namespace

std::string_view grouping_name(Grouping grouping)
{
    return names[static_cast<std::size_t>(grouping)];
}

Statistics::Statistics(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_rows(selection),
      m_states(m_project->traces, with_regions(m_project->project, without_names(std::move(selection))))
{
    for (const CallSite& site : m_project->project.call_sites)
        m_site_codes.push_back(m_site_texts.code_of(stack_text(site)));
}

bool Statistics::read(std::size_t states)
{
    for (; states > 0; --states) {
        const State* state = m_states.next();
        if (!state)
            return false;
        m_walk.add(m_states.trace(), *state);
    }
    return true;
}

void Statistics::mark(const Call& event)
{
    const TimeInterval& interval = m_rows.interval;
    const bool is_in_time = event.state.time >= interval.begin && event.state.time <= interval.end;
    if (is_in_time && event_kind(event.state) == EventKind::count)
        m_counters.add(event.trace, event.state);
}

void Statistics::count(const Call& call)
{
    const State& state = call.state;
    const std::optional<Volume> volume = m_volumes.of(call);
    if (!m_rows.wants(state))
        return;
    m_begin = m_totals.calls == 0 ? state.time : std::min(m_begin, state.time);
    m_end = m_totals.calls == 0 ? state.end : std::max(m_end, state.end);
    const std::int64_t time = saturated_difference(state.end, state.time);
    const Totals one = {1, time, time, bytes_of(call, volume), volume.value_or(Volume())};
    add_to(m_totals, one);
    for (std::size_t i = 0; i < grouping_count; ++i)
        if (const Key key = key_of(static_cast<Grouping>(i), call, volume))
            add_to(m_groups[i][*key], one);
    count_in_region(call, one);
}

void Statistics::count_in_region(const Call& call, const Totals& one)
{
    auto& groups = m_groups[static_cast<std::size_t>(Grouping::region)];
    if (call.own_region != RegionPaths::outside)
        add_visit(groups[call.own_region], one.time);
    else
        add_to(call.region == RegionPaths::outside ? m_outside : groups[call.region], one);
}

Statistics::Key Statistics::key_of(Grouping grouping, const Call& call, const std::optional<Volume>& volume)
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
    case Grouping::communicator:
        return key_in(project.communicators, objects.communicator(rank, state));
    case Grouping::file:
        return key_in(project.files, objects.file(rank, state));
    case Grouping::site: {
        const Key site = key_in(project.call_sites, objects.call_site(rank, state));
        return site ? Key(m_site_codes[*site]) : std::nullopt;
    }
    case Grouping::region: // has rules of its own
        return {};
    case Grouping::size:
        break;
    }
    if (!volume || !sends_or_receives(call.facts.call_class))
        return {};
    return std::bit_width(static_cast<std::uint64_t>(std::max(volume->sent, volume->received)));
}

std::string Statistics::label_of(Grouping grouping, std::int64_t key) const
{
    switch (grouping) {
    case Grouping::call:
        return m_names.texts()[key];
    case Grouping::call_class:
        return std::string(class_name(static_cast<CallClass>(key)));
    case Grouping::rank:
        return std::to_string(key);
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

std::vector<Group> Statistics::groups(Grouping grouping) const
{
    const auto& found = m_groups[static_cast<std::size_t>(grouping)];
    std::vector<std::pair<std::int64_t, Totals>> sorted(found.begin(), found.end());
    if (grouping == Grouping::region && m_outside.calls > 0)
        sorted.emplace_back(RegionPaths::outside, m_outside);
    std::ranges::sort(sorted, {}, &std::pair<std::int64_t, Totals>::first);
    if (grouping != Grouping::rank && grouping != Grouping::size)
        std::ranges::stable_sort(sorted, std::ranges::greater(),
                                 [](const auto& group) { return group.second.time; });
    std::vector<Group> groups;
    for (const auto& [key, totals] : sorted)
        groups.push_back({label_of(grouping, key), totals});
    if (grouping == Grouping::region)
        unite_equal(groups);
    return groups;
}

} // namespace hdtrace
