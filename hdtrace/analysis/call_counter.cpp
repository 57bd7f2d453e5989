#include "hdtrace/analysis/call_counter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

// Whom a call sends to, else whom it receives from.
std::optional<std::int64_t> peer_of(const State& call)
{
    auto peer = call.integer("toRank");
    if (!peer || *peer == proc_null)
        peer = call.integer("fromRank");
    return peer == proc_null ? std::nullopt : peer;
}

template <class Object>
std::optional<std::int64_t> key_in(const std::vector<Object>& list, const Object* object)
{
    return object ? std::optional<std::int64_t>(position_in(list, *object)) : std::nullopt;
}

bool is_region(const Call& call)
{
    return call.own_region != RegionPaths::outside;
}

} // namespace

CallSums::Key Counting::key_of(Grouping grouping, const Call& call) const
{
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    const ObjectTable& objects = project->objects;
    switch (grouping) {
    case Grouping::call_class:
        return static_cast<std::int64_t>(call.facts.call_class);
    case Grouping::rank:
        return rank;
    case Grouping::thread:
        return thread_key(call.trace);
    case Grouping::peer:
        return peer_of(state);
    case Grouping::communicator:
        return key_in(project->project.communicators, objects.communicator(rank, state));
    case Grouping::communicator_size: {
        const Communicator* const communicator = objects.communicator(rank, state);
        return communicator ? CallSums::Key(communicator->size()) : std::nullopt;
    }
    case Grouping::file:
        return key_in(project->project.files, objects.file(rank, state));
    case Grouping::site: {
        const CallSite* const site = objects.call_site(rank, state);
        return site ? CallSums::Key(labels.code_of(*site)) : std::nullopt;
    }
    default:
        return {};
    }
}

std::vector<Grouping> groupings_in(const std::vector<Groupings>& tables)
{
    std::vector<Grouping> wanted;
    for (std::size_t i = 0; i < grouping_count; ++i) {
        const auto grouping = static_cast<Grouping>(i);
        if (std::ranges::any_of(tables, [&](const Groupings& table) {
                return std::ranges::find(table, grouping) != table.end();
            }))
            wanted.push_back(grouping);
    }
    return wanted;
}

CallCounter::CallCounter(const Counting& counting, const ProcessTraces& process) : m_counting(counting)
{
    m_states.emplace(process, counting.read);
    m_place.rank = process.front().rank;
    m_place.time = std::numeric_limits<std::int64_t>::min();
}

CallCounter::CallCounter(const Counting& counting, const ProcessTraces& process, CallIndex index)
    : m_counting(counting)
{
    m_place.rank = process.front().rank;
    for (const index_form::SeenRegion& region : index.contents().regions) {
        m_place.time = region.position.time;
        m_place.state = region.position.state;
        m_sums.code_of_region(region.path, m_place);
    }
    m_indexed.emplace(std::move(index), process, counting.read, counting.rows.interval);
}

std::size_t CallCounter::read(std::size_t states)
{
    for (std::size_t done = 0; done < states; ++done)
        if (!(m_indexed ? read_indexed() : read_state())) {
            m_arrivals.finish([this](std::size_t awaiting) { add_when_known(awaiting); });
            return done;
        }
    return states;
}

bool CallCounter::read_state()
{
    const State* const state = m_states->next();
    if (!state) {
        m_missing = m_states->missing();
        return false;
    }
    m_place.time = std::max(m_place.time, state->time);
    ++m_place.state;
    m_walk.add(m_states->trace(), *state);
    return true;
}

bool CallCounter::read_indexed()
{
    using Kind = index_form::Item::Kind;
    const IndexedCalls::Item* const item = m_indexed->next();
    if (!item)
        return false;
    m_place.time = item->said.position.time;
    m_place.state = item->said.position.state;
    if (item->is_of_trace) {
        m_walk.add(*item->trace, *item->state);
    } else if (item->said.kind == Kind::sums) {
        m_rows.count(*item->trace, item->said.sums, m_place);
    } else if (item->said.kind == Kind::closed) {
        m_is_counted = false;
        m_walk.add(*item->trace, *item->state);
        m_is_counted = true;
    } else {
        m_meter.inside(*item->trace) = item->said.inside;
        if (item->said.kind == Kind::kept)
            m_walk.add(*item->trace, *item->state);
    }
    return true;
}

// Regions are known in the order in which they begin.
void CallCounter::enter(const Call& call)
{
    if (is_region(call))
        m_sums.code_of_region(m_walk.regions(), call.own_region, m_place);
}

void CallCounter::mark(const Call& event)
{
    if (m_counting.rows.wants(event.trace) && m_counting.rows.interval.counts(event.state.time) &&
        event_kind(event.state) == EventKind::count)
        m_counters.add(event.trace, event.state);
}

bool CallCounter::is_selected(const Call& call)
{
    const State& state = call.state;
    if (!m_counting.rows.wants(call.trace) || !m_counting.rows.wants(state))
        return false;
    if (m_counting.rows.interval.counts(is_region(call) ? state.end : state.time))
        return true;
    if (!is_region(call) && state.time < m_counting.rows.interval.begin)
        ++m_begun_before;
    return false;
}

void CallCounter::complete(const Call& call)
{
    m_arrivals.complete(call, [this](std::size_t awaiting, const Volume& more) {
        add_moved(awaiting, more);
        add_when_known(awaiting);
    });
}

void CallCounter::count(const Call& call)
{
    if (!m_is_counted)
        return complete(call);
    const State& state = call.state;
    const Totals one = m_meter.measure(call);
    complete(call);
    if (!is_selected(call))
        return;
    m_sums.add_time(state);
    if (state.is_unfinished() && !m_counting.counts_unfinished) {
        ++m_unfinished;
        return;
    }
    for (const Grouping grouping : m_counting.wanted)
        m_keys[static_cast<std::size_t>(grouping)] = key_of(grouping, call);
    if (one.volume.posted > 0 && await(call, one))
        return;
    if (is_region(call)) // no call of a table by region, but one that was entered and left
        m_sums.add_region(m_keys, one);
    else
        m_sums.add_call(m_keys, one);
}

CallSums::Key CallCounter::key_of(Grouping grouping, const Call& call)
{
    switch (grouping) {
    case Grouping::call:
        return m_sums.code_of_name(call.state.name, m_place);
    case Grouping::region:
        return m_sums.code_of_region(m_walk.regions(), is_region(call) ? call.own_region : call.region,
                                     m_place);
    case Grouping::size:
        return size_key(m_meter.volume());
    default:
        return m_counting.key_of(grouping, call);
    }
}

// False if nothing will tell what it moves.
bool CallCounter::await(const Call& call, const Totals& one)
{
    if (m_unused.empty()) {
        m_unused.push_back(m_awaiting.size());
        m_awaiting.emplace_back();
    }
    const std::size_t awaiting = m_unused.back();
    const std::size_t open = m_arrivals.add(call, awaiting);
    if (open == 0)
        return false;
    m_unused.pop_back();
    m_awaiting[awaiting] = {m_keys, one, open};
    return true;
}

void CallCounter::add_moved(std::size_t awaiting, const Volume& more)
{
    Awaiting& call = m_awaiting[awaiting];
    call.totals.volume += more;
    call.totals.bytes = call.totals.volume.moved();
    call.keys[static_cast<std::size_t>(Grouping::size)] = size_key(call.totals.volume);
}

void CallCounter::add_when_known(std::size_t awaiting)
{
    Awaiting& call = m_awaiting[awaiting];
    if (--call.open > 0)
        return;
    m_sums.add_call(call.keys, call.totals);
    m_unused.push_back(awaiting);
}

} // namespace hdtrace
