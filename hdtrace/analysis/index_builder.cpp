#include "hdtrace/analysis/index_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/format/trace_lines.h"

namespace hdtrace {

using namespace index_form;

namespace {

constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

/// The places in a key.
enum : std::size_t {
    of_trace,
    of_kind,
    of_name,
    of_unfinished,
    of_receiver,
    of_sender,
    of_cid,
    of_fid,
    of_site,
    of_size,
    of_region
};

constexpr std::pair<std::size_t, const char*> attributes[] = {
    {of_receiver, "toRank"}, {of_sender, "fromRank"}, {of_cid, "cid"}, {of_fid, "fid"}, {of_site, "site"}};

Selection everything()
{
    Selection selection;
    selection.unfinished = true;
    selection.events = true;
    return selection;
}

/// What calls say that complete others (Arrivals).
State completion_by(const Call& call)
{
    State closing;
    closing.name = "Wait";
    closing.time = call.state.time;
    closing.end = call.state.end;
    for (const Element& child : call.state.children) {
        if (child.name != "For")
            continue;
        Element& copy = closing.children.emplace_back();
        copy.name = child.name;
        for (const char* const name : {"rid", "size", "actual", "rc"})
            if (const auto value = child.find(name))
                copy.attributes.push_back(name, *value);
        if (!copy.has("rc") && is_of_failed_access(call, child))
            copy.attributes.push_back("rc", call.state.text("rc"));
    }
    return closing;
}

State end_of_region(const Call& region)
{
    State closing;
    closing.name = "Event";
    closing.is_event = true;
    closing.attributes.push_back("name", region.state.name);
    closing.attributes.push_back("kind", "end");
    closing.time = closing.end = region.state.end;
    return closing;
}

// What is inside nothing is never asked for.
bool is_any_inside(const std::vector<std::int64_t>& inside)
{
    return std::ranges::any_of(inside.begin() + (inside.empty() ? 0 : 1), inside.end(),
                               [](std::int64_t time) { return time != 0; });
}

std::int64_t width_of(std::size_t level)
{
    std::int64_t width = 1;
    for (; level > 0; --level)
        width *= fan_out;
    return width;
}

} // namespace

std::size_t IndexBuilder::KeyHash::operator()(const Key& key) const
{
    std::size_t hash = 0;
    for (const std::int64_t value : key)
        hash = (hash ^ std::hash<std::int64_t>()(value)) * 0x9e3779b97f4a7c15;
    return hash;
}

IndexBuilder::IndexBuilder(std::shared_ptr<const OpenedProject> project, ProcessTraces process,
                           std::int64_t states, std::vector<SnapshotText> snapshots, Write write)
    : m_project(std::move(project)), m_process(std::move(process)), m_states_in_block(states),
      m_snapshots(std::move(snapshots)), m_write(std::move(write)), m_states(m_process, everything()),
      m_last(m_process.size()), m_ends(m_process.size(), none), m_regions(m_process.size())
{
    m_contents.project = state_of_file(m_project->project.path);
    for (const TraceFile& trace : m_process)
        m_contents.traces.push_back(files_of_trace(trace.path));
    m_paths.code_of(""); // outside of all regions
    m_write(beginning);
    m_offset = static_cast<std::int64_t>(beginning.size());
}

std::size_t IndexBuilder::read(std::size_t states)
{
    for (std::size_t done = 0; done < states; ++done) {
        State* const state = m_states.next();
        if (!state) {
            finish();
            return done;
        }
        add(m_states.trace(), *state);
    }
    return states;
}

std::size_t IndexBuilder::number_of(const TraceFile& trace) const
{
    const auto found = std::ranges::find(m_process, trace.path, &TraceFile::path);
    return static_cast<std::size_t>(found - m_process.begin());
}

bool IndexBuilder::is_block_full() const
{
    constexpr std::int64_t fewest_of_a_kind = 16,
                           most_blocks = 64; // else sums would be as large as the calls
    return m_in_block >= m_states_in_block &&
           (m_in_block >= fewest_of_a_kind * std::ssize(m_levels[0].sums) ||
            m_in_block >= most_blocks * m_states_in_block);
}

void IndexBuilder::add(const TraceFile& trace, State& state)
{
    const std::size_t number = number_of(trace);
    if (state.time < m_position.time || state.time < m_ends[number] || state.end < state.time)
        throw NoIndex(trace.path + ": times go back in this trace, so it has no index");
    if (is_block_full() && state.time > m_position.time)
        close_block(state.time);
    m_position.time = state.time;
    ++m_position.state;
    if (++m_in_block == 1)
        for (std::size_t level = 0; level < most_levels && m_leaf % width_of(level) == 0; ++level)
            m_levels[level].begin = m_position;
    m_now = std::make_shared<Live>();
    m_now->leaf = m_leaf;
    m_now->position = m_position;
    m_now->trace = number;
    if (const std::vector<std::int64_t>& inside = m_meter.inside(trace); is_any_inside(inside))
        m_now->inside = inside;
    std::swap(m_now->state, state);
    m_ends[number] = m_now->state.end;
    m_walk.add(trace, m_now->state);
    LivePointer& last = m_last[number];
    if (last && !last->is_listed)
        deposit(*last);
    last = std::exchange(m_now, nullptr);
}

void IndexBuilder::hold(const LivePointer& live)
{
    ++live->open;
    if (!std::exchange(live->is_listed, true))
        m_open.push_back(live);
}

void IndexBuilder::enter(const Call& call)
{
    if (call.own_region == RegionPaths::outside)
        return;
    m_contents.has_regions = true;
    m_regions[m_now->trace].emplace_back(call.state.name, m_now);
    hold(m_now);
    if (m_seen_regions.try_emplace(call.own_region, true).second)
        m_contents.regions.push_back({m_walk.regions().text(call.own_region), m_position});
}

void IndexBuilder::mark(const Call& event)
{
    m_contents.has_counters = m_contents.has_counters || event_kind(event.state) == EventKind::count;
}

void IndexBuilder::leave(const Call& call)
{
    ++m_ended_calls;
    const Totals totals = m_meter.measure(call);
    complete(call);
    add_part(call, totals);
    if (call.own_region != RegionPaths::outside)
        leave_region(call);
    else
        follow_requests(call, m_now->parts.size() - 1);
}

// Of receives, and of accesses to files.
void IndexBuilder::complete(const Call& call)
{
    std::vector<Owner> owners;
    m_arrivals.complete(call, [&](const Awaiting& started, const Volume& more) {
        Part& part = started.live->parts[started.part];
        part.sum.totals.volume += more;
        part.sum.totals.bytes = part.sum.totals.volume.moved();
        part.key[of_size] = size_key(part.sum.totals.volume).value_or(none);
        --started.live->open;
        owners.push_back({started.live->leaf, started.live});
    });
    if (!owners.empty())
        add_closing(completion_by(call), std::move(owners));
}

void IndexBuilder::add_closing(State closing, std::vector<Owner> owners)
{
    m_levels[0].closings.push_back({{.kind = index_form::Item::Kind::closed,
                                     .position = m_position,
                                     .trace = m_now->trace,
                                     .sums = {},
                                     .state = std::move(closing),
                                     .inside = {}},
                                    {m_leaf, m_now},
                                    std::move(owners)});
}

void IndexBuilder::follow_requests(const Call& call, std::size_t part)
{
    if (m_meter.volume() && m_meter.volume()->posted > 0) {
        const std::size_t open = m_arrivals.add(call, {m_now, part});
        for (std::size_t i = 0; i < open; ++i)
            hold(m_now);
    }
    const auto request = call.state.integer("rid");
    if (!request)
        return;
    if (call.facts.progress == CallProgress::prepares) {
        m_contents.has_prepared = true;
        if (!m_prepared.emplace(*request, m_now).second)
            throw NoIndex(call.trace.path + ": a request was prepared twice, so this trace has no index");
        hold(m_now);
    } else if (call.facts.progress == CallProgress::releases) {
        if (const auto prepared = m_prepared.extract(*request))
            --prepared.mapped()->open;
    }
}

void IndexBuilder::leave_region(const Call& region)
{
    auto& open = m_regions[m_now->trace];
    const auto found = std::ranges::find(open.rbegin(), open.rend(), region.state.name,
                                         [](const auto& one) { return one.first; });
    if (found == open.rend())
        return;
    const LivePointer begun = found->second;
    open.erase(std::next(found).base());
    --begun->open;
    add_closing(end_of_region(region), {{begun->leaf, begun}});
}

void IndexBuilder::add_part(const Call& call, const Totals& totals)
{
    const State& state = call.state;
    const bool is_region = call.own_region != RegionPaths::outside;
    const bool sends = state.integer("toRank").value_or(proc_null) != proc_null;
    const auto number = [&](const AttributeName& name) { return state.integer(name).value_or(none); };
    if (std::min({totals.volume.sent, totals.volume.received, totals.volume.posted, totals.bytes}) < 0)
        throw NoIndex(call.trace.path + ": a call moved less than nothing, so this trace has no index");
    Key key;
    key[of_trace] = static_cast<std::int64_t>(m_now->trace);
    key[of_kind] =
        static_cast<std::int64_t>(is_region ? SummedCalls::Kind::region : SummedCalls::Kind::calls);
    key[of_name] = m_names.code_of(state.name);
    key[of_unfinished] = state.is_unfinished();
    key[of_receiver] = sends ? number("toRank") : none;
    key[of_sender] = sends ? none : number("fromRank");
    key[of_cid] = number("cid");
    key[of_fid] = number("fid");
    key[of_site] = number("site");
    key[of_size] = size_key(m_meter.volume()).value_or(none);
    key[of_region] = m_paths.code_of(m_walk.regions().text(is_region ? call.own_region : call.region));
    m_now->parts.push_back({key, {totals, state.time, state.end, m_position, m_ended_calls}});
}

void IndexBuilder::add_sum(Sums& sums, const Key& key, const Sum& more)
{
    const auto [found, is_new] = sums.try_emplace(key, more);
    if (is_new)
        return;
    Sum& sum = found->second;
    add_to(sum.totals, more.totals);
    sum.first = std::min(sum.first, more.first);
    sum.last = std::max(sum.last, more.last);
    if (more.number < sum.number) {
        sum.number = more.number;
        sum.position = more.position;
    }
}

// In the smallest block that has the state's beginning and its end; larger ones get it from there.
void IndexBuilder::deposit(const Live& live)
{
    std::size_t level = 0;
    while (live.leaf < m_levels[level].first)
        ++level;
    for (const auto& [key, sum] : live.parts)
        add_sum(m_levels[level].sums, key, sum);
}

/// Adds up what is over, and returns what is not.
std::vector<IndexBuilder::LivePointer> IndexBuilder::settle(std::int64_t end)
{
    const auto is_over = [end](const LivePointer& live) { return live->open == 0 && live->state.end < end; };
    std::vector<LivePointer> kept;
    for (LivePointer& live : m_last) {
        if (live && !live->is_listed) {
            if (is_over(live))
                deposit(*live);
            else
                kept.push_back(live);
        }
        if (live && is_over(live))
            live.reset();
    }
    for (const LivePointer& live : m_open)
        if (is_over(live))
            deposit(*live);
    std::erase_if(m_open, is_over);
    kept.insert(kept.end(), m_open.begin(), m_open.end());
    return kept;
}

void IndexBuilder::close_block(std::int64_t end)
{
    const std::vector<LivePointer> kept = settle(end);
    const bool is_last = end == latest;
    for (std::size_t level = 0; level < most_levels; ++level) {
        if (level > 0 && !is_last && (m_leaf + 1) % width_of(level) != 0)
            break;
        write_node(level, end, kept);
        if (is_last && m_levels[level].first == 0)
            break;
        pass_on(level);
    }
    ++m_leaf;
    m_in_block = 0;
    for (std::size_t level = 0; level < most_levels && m_leaf % width_of(level) == 0; ++level)
        m_levels[level].first = m_leaf;
}

void IndexBuilder::pass_on(std::size_t level)
{
    Level &from = m_levels[level], &to = m_levels[level + 1];
    for (const auto& [key, sum] : from.sums)
        add_sum(to.sums, key, sum);
    from.sums.clear();
    for (Closing& closing : from.closings)
        if (std::ranges::any_of(closing.owners, [&](const Owner& owner) { return owner.concerns(to.first); }))
            to.closings.push_back(std::move(closing));
    from.closings.clear();
}

index_form::Item IndexBuilder::item_of(const Key& key, const Sum& sum) const
{
    index_form::Item item = {.kind = index_form::Item::Kind::sums,
                             .position = sum.position,
                             .trace = static_cast<std::size_t>(key[of_trace]),
                             .sums = {},
                             .state = {},
                             .inside = {}};
    SummedCalls& sums = item.sums;
    sums.kind = static_cast<SummedCalls::Kind>(key[of_kind]);
    sums.call.name = m_names.texts()[key[of_name]];
    sums.call.time = sum.first;
    sums.call.end = sum.last;
    if (key[of_unfinished])
        sums.call.attributes.push_back("unfinished", "1");
    for (const auto& [place, name] : attributes)
        if (key[place] != none)
            sums.call.attributes.push_back(name, std::to_string(key[place]));
    if (key[of_size] != none)
        sums.size = key[of_size] == 0 ? 0 : std::int64_t{1} << (key[of_size] - 1);
    sums.regions = m_paths.texts()[key[of_region]];
    sums.calls = sum.totals.calls;
    sums.total = sum.totals.time;
    sums.exclusive = sum.totals.exclusive;
    sums.shortest = sum.totals.shortest;
    sums.longest = sum.totals.longest;
    sums.sent = sum.totals.volume.sent;
    sums.received = sum.totals.volume.received;
    sums.posted = sum.totals.volume.posted;
    sums.bytes = sum.totals.bytes;
    return item;
}

void IndexBuilder::write_node(std::size_t level, std::int64_t end, const std::vector<LivePointer>& kept)
{
    const Level& of = m_levels[level];
    struct Line {
        std::int64_t state, number;
        std::string text;
    };
    std::vector<Line> lines;
    const auto add = [&](std::int64_t number, const index_form::Item& item) {
        lines.push_back({item.position.state, number, line_of(item)});
    };
    for (const auto& [key, sum] : of.sums)
        add(sum.number, item_of(key, sum));
    for (const LivePointer& live : kept)
        if (live->leaf >= of.first)
            add(0, {.kind = index_form::Item::Kind::kept,
                    .position = live->position,
                    .trace = live->trace,
                    .sums = {},
                    .state = live->state,
                    .inside = live->inside});
    for (const Closing& closing : of.closings) {
        const bool is_kept = closing.closer.leaf >= of.first && !closing.closer.live.expired();
        if (!is_kept &&
            std::ranges::any_of(closing.owners, [&](const Owner& owner) { return owner.concerns(of.first); }))
            add(0, closing.item);
    }
    std::ranges::stable_sort(lines, {}, [](const Line& line) { return std::pair(line.state, line.number); });
    std::string text;
    for (const Line& line : lines)
        text += line.text;
    for (std::size_t trace = 0; trace < m_process.size(); ++trace) {
        const std::vector<std::int64_t>& inside = m_meter.inside(m_process[trace]);
        m_has_inside = m_has_inside || is_any_inside(inside);
        if (m_has_inside)
            text += line_of({.kind = index_form::Item::Kind::inside,
                             .position = m_position,
                             .trace = trace,
                             .sums = {},
                             .state = {},
                             .inside = inside});
    }
    m_contents.nodes.push_back({.level = static_cast<std::int64_t>(level),
                                .first = of.first,
                                .last = m_leaf,
                                .begin = of.begin,
                                .end = end,
                                .offset = m_offset,
                                .size = static_cast<std::int64_t>(text.size()),
                                .checksum = checksum_of(text)});
    m_write(text);
    m_offset += static_cast<std::int64_t>(text.size());
}

void IndexBuilder::write_snapshots()
{
    for (const auto& [moment, lines] : m_snapshots) {
        const auto size = static_cast<std::int64_t>(lines.size());
        m_contents.snapshots.push_back({moment, m_offset, size, checksum_of(lines)});
        m_write(lines);
        m_offset += size;
    }
}

void IndexBuilder::finish()
{
    if (!m_states.missing().empty())
        throw NoIndex(to_string(m_states.missing().front()) +
                      ", so it has no index; 'hdtrace repair' closes it");
    if (m_in_block > 0)
        close_block(latest);
    m_contents.calls = m_ended_calls;
    if (!is_same(m_contents.project, state_of_file(m_project->project.path)))
        throw NoIndex(m_project->project.path + ": this changes, so it has no index");
    for (std::size_t i = 0; i < m_process.size(); ++i)
        if (!std::ranges::equal(m_contents.traces[i], files_of_trace(m_process[i].path), is_same))
            throw NoIndex(m_process[i].path + ": this is being written; wait until the run has ended");
    write_snapshots();
    m_write(text_of(m_contents, m_offset));
    m_write(detail::closing);
    m_write("\n");
}

} // namespace hdtrace
