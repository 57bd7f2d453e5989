#include "hdtrace/analysis/message_matrix.h"

#include <algorithm>
#include <iterator>
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

void add_to(MessageCells::Cell& sum, const MessageCells::Cell& cell)
{
    sum.messages += cell.messages;
    sum.bytes = saturated_sum(sum.bytes, cell.bytes);
}

/// What another process reads it hands out together.
std::vector<ProcessTraces> parts_of(std::vector<TraceFile> traces, const Selection& selection)
{
    std::vector<ProcessTraces> parts;
    for (ProcessTraces& process : traces_by_process(std::move(traces), selection)) {
        const auto& reader = process.front().reader;
        if (reader && !parts.empty() && parts.back().front().reader == reader)
            std::ranges::move(process, std::back_inserter(parts.back()));
        else
            parts.push_back(std::move(process));
    }
    return parts;
}

} // namespace

void MessageCells::add(Pair pair, const Element& call, const Cell& sent)
{
    const Communicator* const communicator = m_project.objects.communicator(pair.first, call);
    const std::int64_t position =
        communicator ? position_in(m_project.project.communicators, *communicator) : -1;
    add_to(m_cells[{pair, position}], sent);
}

void MessageCells::add(const MessageCells& others)
{
    for (const auto& [channel, cell] : others.m_cells)
        add_to(m_cells[channel], cell);
}

std::map<MessageCells::Pair, MessageCells::Cell> MessageCells::by_pair() const
{
    std::map<Pair, Cell> pairs;
    for (const auto& [channel, cell] : m_cells)
        add_to(pairs[channel.pair], cell);
    return pairs;
}

SentMessages::SentMessages(const OpenedProject& project, const Selection& rows, const Selection& read,
                           const ProcessTraces& traces)
    : m_rows(rows), m_states(traces, read), m_cells(project)
{
}

std::size_t SentMessages::read(std::size_t states)
{
    return m_walk.add_some(m_states, states);
}

void SentMessages::sent(const Call& call, const Operation& send)
{
    const std::int64_t receiver = send.call->integer("toRank").value_or(proc_null);
    if (receiver == proc_null || !m_rows.interval.counts(call.state.time) || !m_rows.wants(call.state))
        return;
    m_cells.add({send.rank, receiver}, *send.call,
                {1, send.call->integer(send.facts->sent_size).value_or(0)});
}

MessageMatrix::MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_rows(rows_of(m_project->project, std::move(selection))),
      m_read(with_prepared(m_project->project, without_names(m_rows))), m_cells(*m_project),
      m_processes(
          parts_of(m_project->traces_with_calls(), m_read),
          [this](const ProcessTraces& traces) {
              return std::make_unique<SentMessages>(*m_project, m_rows, m_read, traces);
          },
          [this](std::size_t process, std::unique_ptr<SentMessages> sent) {
              m_cells.add(sent->cells());
              if (std::vector<MissingEnd> missing = sent->missing(); !missing.empty())
                  m_missing[process] = std::move(missing);
          }),
      m_sums(m_project->traces_with_sums())
{
    if (!m_sums.empty() && !is_all(m_rows.interval))
        throw std::invalid_argument("sums over a whole run do not tell what was in an interval");
}

bool MessageMatrix::read(std::size_t states)
{
    if (m_processes.read(states))
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
    m_cells.add({sender, *receiver}, row.call, {row.calls, row.sent});
}

std::vector<MissingEnd> MessageMatrix::missing() const
{
    std::vector<MissingEnd> all;
    for (const auto& [process, missing] : m_missing)
        std::ranges::copy(missing, std::back_inserter(all));
    std::ranges::copy(m_missing_sums, std::back_inserter(all));
    return all;
}

} // namespace hdtrace
