// Makes the indexes of a project.
#pragma once

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/index_builder.h"
#include "hdtrace/analysis/snapshots.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hdtrace::merger {

class ProcessIndex;

/// Makes an index for each process, beside its first trace: each appears whole or not at all, in the place of
/// one that was there. What was in flight at some moments is found before by reading all traces once more. On
/// all cores but for that; for one thread at a time.
class Indexing {
  public:
    /// @p states: of the top level, in a block, at least.
    Indexing(std::shared_ptr<const OpenedProject> project, std::int64_t states);
    ~Indexing();
    Indexing(const Indexing&) = delete;
    Indexing& operator=(const Indexing&) = delete;

    /// Reads up to so many states; false at the end. Throws OpenError, ReadError, FileError.
    bool read(std::size_t states);

    std::int64_t made() const { return m_made; }
    /// In bytes, of those that were made.
    std::int64_t size() const { return m_size; }
    /// Why processes have none, in their order.
    std::vector<std::string> refused() const;

  private:
    std::int64_t m_made = 0, m_size = 0;
    std::map<std::size_t, std::string> m_refused; ///< by process
    SnapshotMaker m_snapshots;
    bool m_has_snapshots = false;
    ByProcess<ProcessIndex> m_processes;
};

/// The indexes that are there. Removing them takes nothing from the project.
std::vector<std::string> indexes_of(const OpenedProject& project);

} // namespace hdtrace::merger
