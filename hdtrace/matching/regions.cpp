#include "hdtrace/matching/regions.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "hdtrace/format/region_name.h"

namespace hdtrace {
namespace {

template <class Number> std::optional<Number> value_of(const State& event)
{
    const auto text = event.find("value");
    if (!text)
        return std::nullopt;
    Number number{};
    const char* const end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

} // namespace

std::int32_t RegionPaths::inside(std::int32_t path, const std::string& name)
{
    if (depth(path) == most_nested)
        path = add(path, "...");
    else if (depth(path) > most_nested + 1)
        path = m_known[path - 1].around;
    return add(path, name);
}

std::int32_t RegionPaths::add(std::int32_t around, const std::string& name)
{
    const auto known = m_names.try_emplace(name, static_cast<std::int32_t>(m_names.size())).first;
    const auto next = static_cast<std::int32_t>(m_known.size() + 1);
    const auto [found, is_new] = m_paths.try_emplace({around, known->second}, next);
    if (is_new)
        m_known.push_back({around, &known->first, depth(around) + 1});
    return found->second;
}

std::string RegionPaths::text(std::int32_t path) const
{
    std::vector<const std::string*> names;
    for (; path != outside; path = m_known[path - 1].around)
        names.push_back(m_known[path - 1].name);
    std::string text;
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        text += (name == names.rbegin() ? "" : "/") + detail::name_in_path(**name);
    return text;
}

const OpenRegions::Region& OpenRegions::begin(const TraceFile& trace, const State& event, std::int64_t number)
{
    std::vector<Region>& regions = m_open[{trace.rank, trace.thread}];
    const std::int32_t around = regions.empty() ? RegionPaths::outside : regions.back().path;
    Region region{event.text("name"), event.time, event.line, around, 0, number};
    region.path = m_paths.inside(around, region.name);
    return regions.emplace_back(std::move(region));
}

OpenRegions::Region OpenRegions::end(const TraceFile& trace, const State& event)
{
    std::vector<Region>& regions = m_open[{trace.rank, trace.thread}];
    std::string name = event.text("name");
    const auto found = std::ranges::find(regions.rbegin(), regions.rend(), name, &Region::name);
    if (found == regions.rend()) {
        const std::int32_t around = path(trace);
        const std::int32_t own = m_paths.inside(around, name);
        return {std::move(name), event.time, event.line, around, own, -1, depth(trace)};
    }
    const auto open = std::next(found).base();
    Region ended = std::move(*open);
    ended.depth = static_cast<std::int32_t>(open - regions.begin());
    if (std::next(open) != regions.end())
        ended.overlapped_from = std::next(open)->time;
    std::int32_t around = ended.around;
    // Those that overlap with it go on without it.
    for (auto inner = regions.erase(open); inner != regions.end(); ++inner) {
        inner->around = around;
        around = inner->path = m_paths.inside(around, inner->name);
    }
    return ended;
}

void OpenRegions::follow(const TraceFile& trace, const State& state)
{
    if (state.is_event) {
        const EventKind kind = event_kind(state);
        if (kind == EventKind::begin)
            begin(trace, state);
        else if (kind == EventKind::end)
            end(trace, state);
    }
    for (const State& nested : state.nested)
        follow(trace, nested);
}

const std::vector<OpenRegions::Region>* OpenRegions::of(const TraceFile& trace) const
{
    if (m_open.empty())
        return nullptr;
    const auto found = m_open.find({trace.rank, trace.thread});
    return found == m_open.end() || found->second.empty() ? nullptr : &found->second;
}

std::int32_t OpenRegions::depth(const TraceFile& trace) const
{
    const std::vector<Region>* const regions = of(trace);
    return regions ? static_cast<std::int32_t>(regions->size()) : 0;
}

std::int32_t OpenRegions::path(const TraceFile& trace) const
{
    const std::vector<Region>* const regions = of(trace);
    return regions ? regions->back().path : RegionPaths::outside;
}

EventKind event_kind(const State& event)
{
    const auto kind = event.find("kind");
    if (!kind)
        return EventKind::mark;
    return *kind == "begin"   ? EventKind::begin
           : *kind == "end"   ? EventKind::end
           : *kind == "count" ? EventKind::count
                              : EventKind::mark;
}

// It takes `NaN`, `INF` and `-INF`, too.
double counter_value(const State& event)
{
    return value_of<double>(event).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<std::int64_t> counter_integer(const State& event)
{
    return value_of<std::int64_t>(event);
}

} // namespace hdtrace
