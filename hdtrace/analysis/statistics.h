// statistics.h - sums over the calls of a project, counted on all cores.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/indexed_counter.h"

namespace hdtrace {

class SumsCounter;

/// Adds up calls of a project and the program's own regions, also those inside others, whose time is in that
/// of both. Grouped by region, calls are what is added up, in the innermost region. Marks and values of
/// counters are no calls. A call counts whole in the interval in which it begins, a region in that in which
/// it ends, so that what follows each other adds up: the end of an interval is in the next one. Memory grows
/// with the number of groups, and how deep calls and regions are nested; the traces of a few processes are
/// read at a time; where a process has an index (call_index.h) only what that does not tell. Where a run was
/// recorded without single calls, its sums are added up (format/sums.h); they tell nothing of intervals and
/// counters. For one thread at a time.
class Statistics {
  public:
    /// @p tables: what groups() will be asked for; none: each grouping by itself. @p threads: 0 takes as many
    /// as there are cores. @p with_counters: counters() will be asked for, which an index does not tell, so
    /// that traces with counters are read. Throws std::invalid_argument for an interval of sums.
    Statistics(std::shared_ptr<const OpenedProject> project, Selection selection,
               std::vector<Groupings> tables = {}, unsigned threads = 0, bool with_counters = true);
    Statistics(const Statistics&) = delete;
    Statistics& operator=(const Statistics&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws OpenError, ReadError: of several
    /// traces that are broken, that of the first one.
    bool read(std::size_t states);

    const std::shared_ptr<const OpenedProject>& project() const { return m_counting.project; }
    /// As CallSums::groups(), of what was read of processes whose end was reached.
    std::vector<Group> groups(const Groupings& groupings) const
    {
        return m_sums.groups(groupings, m_counting.labels);
    }
    const Totals& totals() const { return m_sums.totals(); }
    /// Of the selected threads and time, whichever calls are selected.
    std::vector<CounterSum> counters() const { return m_counters.sums(); }
    /// Calls in which a process ended, or still is; they are in no sum, unless they were selected.
    std::int64_t unfinished() const { return m_unfinished; }
    /// Calls that lasted into the interval, but began before it; they are in no sum.
    std::int64_t begun_before() const { return m_begun_before; }
    /// When the first state began and the last one ended, also of unfinished ones; equal if there was none.
    std::int64_t begin() const { return m_sums.begin(); }
    std::int64_t end() const { return m_sums.end(); }
    /// Calls of which the sums of a run without traces only tell the name: they are in no group of a table
    /// that asks for more than call, class, rank and thread.
    std::int64_t not_apart() const { return m_not_apart; }
    /// In the order of the traces.
    std::vector<MissingEnd> missing() const;
    /// Of how many processes an index told what it could, and why others were not used that are there, in the
    /// order of the processes.
    std::size_t indexed() const { return m_indexed; }
    std::vector<std::string> unused_indexes() const;

  private:
    void add(std::size_t process, const IndexedCounter& counter);
    void add(const TraceFile& trace, const SumsCounter& counter);

    Counting m_counting;
    CallSums m_sums{m_counting.tables};
    CounterSums m_counters{m_counting.project->project.run};
    std::int64_t m_unfinished = 0;
    std::int64_t m_begun_before = 0;
    std::int64_t m_not_apart = 0;
    std::map<std::size_t, std::vector<MissingEnd>> m_missing; ///< by process
    std::size_t m_indexed = 0;
    std::map<std::size_t, std::string> m_unused_indexes; ///< by process
    std::vector<TraceFile> m_summed;                     ///< threads without traces
    std::size_t m_next_summed = 0;
    std::vector<MissingEnd> m_missing_sums;
    ByProcess<IndexedCounter> m_processes;
};

} // namespace hdtrace
