#include "hdtrace/analysis/statistics.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "hdtrace/analysis/sums_counter.h"

namespace hdtrace {
namespace {

Selection rows_with_unfinished(const Project& project, Selection selection)
{
    selection.unfinished = true;
    selection.interval = inside_part(project, selection.interval);
    return selection;
}

std::vector<Groupings> each_by_itself()
{
    std::vector<Groupings> tables;
    for (std::size_t i = 0; i < grouping_count; ++i)
        tables.push_back({static_cast<Grouping>(i)});
    return tables;
}

Counting counting_of(const std::shared_ptr<const OpenedProject>& project, const Selection& selection,
                     std::vector<Groupings> tables, bool with_counters)
{
    const Project& opened = project->project;
    Selection rows = rows_with_unfinished(opened, selection);
    Selection read = with_prepared(opened, with_regions(opened, with_completions(rows)));
    std::vector<Grouping> wanted = groupings_in(tables);
    return {.project = project,
            .labels = GroupLabels(project),
            .tables = std::move(tables),
            .rows = std::move(rows),
            .read = std::move(read),
            .counts_unfinished = selection.unfinished,
            .with_counters = with_counters,
            .wanted = std::move(wanted)};
}

} // namespace

Statistics::Statistics(std::shared_ptr<const OpenedProject> project, Selection selection,
                       std::vector<Groupings> tables, unsigned threads, bool with_counters)
    : m_counting(counting_of(project, selection, tables.empty() ? each_by_itself() : std::move(tables),
                             with_counters)),
      m_summed(project->traces_with_sums()),
      m_processes(
          traces_by_process(project->traces_with_calls(), m_counting.read),
          [this](const ProcessTraces& traces) {
              return std::make_unique<IndexedCounter>(m_counting, traces);
          },
          [this](std::size_t process, std::unique_ptr<IndexedCounter> counter) { add(process, *counter); },
          threads)
{
    if (!m_summed.empty() && !is_all(selection.interval))
        throw std::invalid_argument("sums over a whole run do not tell what was in an interval");
}

bool Statistics::read(std::size_t states)
{
    if (m_processes.read(states))
        return true;
    if (m_next_summed == m_summed.size())
        return false;
    const TraceFile& trace = m_summed[m_next_summed++];
    if (m_counting.rows.wants(trace))
        add(trace, SumsCounter(m_counting, trace));
    return true;
}

void Statistics::add(const TraceFile& trace, const SumsCounter& counter)
{
    m_sums.merge(counter.sums());
    m_unfinished += counter.unfinished();
    m_not_apart += counter.not_apart();
    if (!counter.missing().empty())
        m_missing_sums.push_back({sums_path(trace.path), counter.missing()});
}

void Statistics::add(std::size_t process, const IndexedCounter& read)
{
    const CallCounter& counter = read.counter();
    m_indexed += read.is_indexed() ? 1 : 0;
    if (!read.unused_index().empty())
        m_unused_indexes[process] = read.unused_index();
    m_sums.merge(counter.sums());
    m_counters.merge(counter.counters());
    m_unfinished += counter.unfinished();
    m_begun_before += counter.begun_before();
    if (!counter.missing().empty())
        m_missing[process] = counter.missing();
}

std::vector<MissingEnd> Statistics::missing() const
{
    std::vector<MissingEnd> all;
    for (const auto& [process, missing] : m_missing)
        std::ranges::copy(missing, std::back_inserter(all));
    std::ranges::copy(m_missing_sums, std::back_inserter(all));
    return all;
}

std::vector<std::string> Statistics::unused_indexes() const
{
    std::vector<std::string> all;
    for (const auto& [process, why] : m_unused_indexes)
        all.push_back(why);
    return all;
}

} // namespace hdtrace
