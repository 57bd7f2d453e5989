#include "hdtrace/analysis/row_counter.h"

namespace hdtrace {
namespace {

bool is_region(const SummedCalls& row)
{
    return row.kind == SummedCalls::Kind::region;
}

// As much of them as of a call in a trace.
Call call_of(const TraceFile& trace, const SummedCalls& row)
{
    static constexpr CallFacts no_facts;
    return {.trace = trace, .state = row.call, .facts = is_region(row) ? no_facts : facts_of(row.call.name)};
}

Totals totals_of(const SummedCalls& row)
{
    return {.calls = row.calls,
            .time = row.total,
            .exclusive = row.exclusive,
            .shortest = row.shortest,
            .longest = row.longest,
            .bytes = row.bytes,
            .volume = {row.sent, row.received, row.posted}};
}

// Of calls of which only the name is known.
bool is_known_of_rest(Grouping grouping)
{
    return grouping == Grouping::call || grouping == Grouping::call_class || grouping == Grouping::rank ||
           grouping == Grouping::thread;
}

} // namespace

void RowCounter::count(const TraceFile& trace, const SummedCalls& row, const StatePlace& place)
{
    if (row.kind == SummedCalls::Kind::messages || !m_counting.rows.wants(trace) ||
        !m_counting.rows.wants(row.call))
        return;
    m_sums.add_time(row.call);
    if (row.call.is_unfinished() && !(m_knows_unfinished && m_counting.counts_unfinished)) {
        m_unfinished += row.calls;
        return;
    }
    if (row.is_rest)
        m_not_apart += row.calls;
    const Call call = call_of(trace, row);
    CallSums::Keys keys;
    for (const Grouping grouping : m_counting.wanted)
        keys[static_cast<std::size_t>(grouping)] = key_of(grouping, call, row, place);
    if (is_region(row))
        m_sums.add_region(keys, totals_of(row));
    else
        m_sums.add_call(keys, totals_of(row));
}

CallSums::Key RowCounter::key_of(Grouping grouping, const Call& call, const SummedCalls& row,
                                 const StatePlace& place)
{
    if (row.is_rest && !is_known_of_rest(grouping))
        return {};
    switch (grouping) {
    case Grouping::call:
        return m_sums.code_of_name(call.state.name, place);
    case Grouping::region:
        return m_sums.code_of_region(row.regions, place);
    case Grouping::size:
        return row.size ? size_key(Volume{*row.size, 0}) : CallSums::Key();
    default:
        return m_counting.key_of(grouping, call);
    }
}

} // namespace hdtrace
