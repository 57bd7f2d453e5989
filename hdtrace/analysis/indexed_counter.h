// indexed_counter.h - counts the calls of one process, by its index where there is one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hdtrace/analysis/call_counter.h"

namespace hdtrace {

/// A CallCounter that uses the index of the process if it is there, is of the traces as they are, and tells
/// what is wanted; else, and if it proves to be damaged, it reads the traces.
class IndexedCounter {
  public:
    /// As CallCounter.
    IndexedCounter(const Counting& counting, const ProcessTraces& process);

    std::size_t read(std::size_t states);

    const CallCounter& counter() const { return *m_counter; }
    bool is_indexed() const { return m_is_indexed; }
    /// Why there is an index that was not used, though it might have been; else empty.
    const std::string& unused_index() const { return m_unused_index; }

  private:
    bool may_tell(const index_form::Contents& index) const;
    void count_traces();

    const Counting& m_counting;
    ProcessTraces m_process;
    std::unique_ptr<CallCounter> m_counter;
    bool m_is_indexed = false;
    std::string m_unused_index;
};

} // namespace hdtrace
