// read_ahead.h - reads traces in a thread of its own, while the calls that were read are looked at.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// What MergedTraces hands out. Memory is bounded.
class ReadAhead {
  public:
    struct Item {
        const TraceFile* trace = nullptr;
        State state;
        bool is_marked = false; ///< as Look says
    };

    /// Looks at a state of the top level in the thread that reads, and marks it or does not.
    using Look = std::function<bool(const TraceFile&, const State&)>;

    /// @p look gets each state that was read, some of them before they are asked for. Throws OpenError,
    /// ReadError.
    ReadAhead(std::vector<TraceFile> traces, const Selection& selection, Look look = {},
              ReadingLimits limits = {});
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// The next state of the top level, null behind the last one; it is there until the next call. Throws
    /// ReadError behind what was read before that.
    const Item* next();

    /// Known at the end.
    std::vector<MissingEnd> missing() const { return m_states.missing(); }
    std::vector<std::string> with_odd_lines() const { return m_states.with_odd_lines(); }

  private:
    struct Batch {
        std::vector<Item> items; ///< of which the first `size` are filled; others keep their memory
        std::size_t size = 0;
        bool is_last = false;
        std::exception_ptr error; ///< behind them
    };

    /// Gets what the other thread has written, and this one soon reads.
    void prefetch(std::size_t position) const;
    void read();
    void fill(Batch& batch);
    /// Several, or none if nobody wants more.
    std::deque<Batch> take_empty();
    void put_empty(Batch batch);
    Batch take_full();
    void put_full(Batch batch);

    MergedTraces m_states;
    Look m_look;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Batch> m_empty, m_full;
    bool m_is_abandoned = false;
    Batch m_current; ///< of which so many were handed out
    std::size_t m_handed_out = 0;
    std::thread m_reader;
};

} // namespace hdtrace
