#include "hdtrace/analysis/message_matrix.h"

#include <stdexcept>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

Selection rows_of(const Project& project, Selection selection)
{
    selection.interval = inside_part(project, selection.interval);
    return selection;
}

void add_to(MessageMatrix::Cell& sum, const MessageMatrix::Cell& cell)
{
    sum.messages += cell.messages;
    sum.bytes = saturated_sum(sum.bytes, cell.bytes);
}

} // namespace

MessageMatrix::MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_rows(rows_of(m_project->project, std::move(selection))),
      m_states(m_project->traces_with_calls(), with_prepared(m_project->project, without_names(m_rows))),
      m_sums(m_project->traces_with_sums())
{
    if (!m_sums.empty() && !is_all(m_rows.interval))
        throw std::invalid_argument("sums over a whole run do not tell what was in an interval");
}

bool MessageMatrix::read(std::size_t states)
{
    if (m_walk.add_some(m_states, states))
        return true;
    if (m_next_sums == m_sums.size())
        return false;
    const TraceFile& trace = m_sums[m_next_sums++];
    if (m_rows.wants(trace))
        add_sums(trace);
    return true;
}

void MessageMatrix::add_sums(const TraceFile& trace)
{
    const Sums sums = read_sums(trace);
    if (!sums.missing.empty())
        m_missing_sums.push_back({sums_path(trace.path), sums.missing});
    for (const SummedCalls& row : sums.rows)
        if (m_rows.wants(row.call))
            add(trace.rank, row);
}

void MessageMatrix::add(std::int64_t sender, const SummedCalls& row)
{
    const CallFacts& facts = facts_of(row.call.name);
    const bool sends = row.kind == SummedCalls::Kind::messages ||
                       (row.kind == SummedCalls::Kind::calls && facts.sends != SendMode::none &&
                        facts.progress != CallProgress::prepares && did_something(row.call));
    if (!sends)
        return;
    const auto receiver = row.call.integer("toRank");
    if (row.is_rest)
        m_not_apart += row.calls;
    if (!receiver || row.is_rest)
        return;
    add({sender, *receiver}, row.call, {row.calls, row.sent});
}

std::vector<MissingEnd> MessageMatrix::missing() const
{
    std::vector<MissingEnd> all = m_states.missing();
    all.insert(all.end(), m_missing_sums.begin(), m_missing_sums.end());
    return all;
}

void MessageMatrix::sent(const Call& call, const Operation& send)
{
    const std::int64_t receiver = send.call->integer("toRank").value_or(proc_null);
    if (receiver == proc_null || !m_rows.interval.counts(call.state.time) || !m_rows.wants(call.state))
        return;
    add({send.rank, receiver}, *send.call, {1, send.call->integer(send.facts->sent_size).value_or(0)});
}

void MessageMatrix::add(Pair pair, const Element& call, const Cell& sent)
{
    const Communicator* const communicator = m_project->objects.communicator(pair.first, call);
    const std::int64_t position =
        communicator ? position_in(m_project->project.communicators, *communicator) : -1;
    add_to(m_cells[{pair, position}], sent);
}

std::map<MessageMatrix::Pair, MessageMatrix::Cell> MessageMatrix::cells_of_pairs() const
{
    std::map<Pair, Cell> pairs;
    for (const auto& [channel, cell] : m_cells)
        add_to(pairs[channel.pair], cell);
    return pairs;
}

} // namespace hdtrace
