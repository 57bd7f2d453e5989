// What the replays of all processes tell together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "merger/export/tit/process_replay.h"

namespace hdtrace::exporter {

/// Any number of threads may add to it at the same time.
class RunSummary {
  public:
    /// Each process once.
    void add(std::size_t rank, ProcessSummary process);

    // Of the rest, when all are there.

    /// Processes that have other numbers for tags than all have together.
    const std::vector<std::pair<std::size_t, TagNumbers>>& with_other_tags() const { return m_other_tags; }
    const Account& account() const { return m_account; }
    /// Whether not all processes came to the end of the run.
    bool is_incomplete() const { return m_collectives.size() > 1 || m_balance.is_unequal(); }

  private:
    void add_next(const ProcessSummary& process);

    std::mutex m_mutex;
    std::map<std::size_t, ProcessSummary> m_early; ///< not all before them are there
    std::size_t m_added = 0;
    CommonTags m_tags;
    MessageBalance m_balance;
    std::set<std::int64_t> m_collectives; ///< how many each process takes part in; one number if all is well
    Account m_account;
    std::vector<std::pair<std::size_t, TagNumbers>> m_other_tags;
};

} // namespace hdtrace::exporter
