// The calls of one process, of all its threads.
#pragma once

#include <cstddef>
#include <vector>

#include "hdtrace/matching/walk.h"

namespace hdtrace::exporter {

/// States of the top level, also unfinished ones, in the order in which they ended: what a call waited for
/// stands before it. For this order one state of each thread is in memory. One of next(), walk() and
/// walk_moments() is used.
class RankCalls {
  public:
    /// @p traces: of the threads of one process. Throws OpenError, ReadError.
    explicit RankCalls(const std::vector<TraceFile>& traces);

    /// Null behind the last one; it belongs to this until the next call. Throws ReadError.
    const State* next();
    /// Whose state was returned last.
    const TraceFile& trace() const { return m_threads[m_current].stream.trace(); }

    /// Gives them to the walk. Throws ReadError.
    void walk(EventWalk& walk);
    /// The same, with the beginnings and the ends of the calls of different threads in the order of their
    /// times.
    void walk_moments(EventWalk& walk);

  private:
    struct Thread {
        TraceStream stream;
        State state;
        bool has_state;
        bool has_begun = false;
    };

    void read(Thread& thread);
    /// Makes that thread the current one whose state comes first by what moment(thread) says.
    void choose(auto moment);

    std::vector<Thread> m_threads;
    std::size_t m_current;
};

} // namespace hdtrace::exporter
