#include "hdtrace/analysis/message_matrix.h"

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

Selection rows_of(const Project& project, Selection selection)
{
    selection.interval = inside_part(project, selection.interval);
    return selection;
}

} // namespace

MessageMatrix::MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_rows(rows_of(m_project->project, std::move(selection))),
      m_states(m_project->existing_traces(), with_prepared(m_project->project, without_names(m_rows)))
{
}

bool MessageMatrix::read(std::size_t states)
{
    return m_walk.add_some(m_states, states);
}

void MessageMatrix::sent(const Call& call, const Operation& send)
{
    const std::int64_t receiver = send.call->integer("toRank").value_or(proc_null);
    if (receiver == proc_null || !m_rows.interval.counts(call.state.time) || !m_rows.wants(call.state))
        return;
    Cell& cell = m_cells[{send.rank, receiver}];
    ++cell.messages;
    cell.bytes = saturated_sum(cell.bytes, send.call->integer(send.facts->sent_size).value_or(0));
}

} // namespace hdtrace
