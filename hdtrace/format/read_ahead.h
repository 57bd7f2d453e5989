// read_ahead.h - reads traces in a thread of its own, while the calls that were read are looked at.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
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
    };

    /// Looks at a state of the top level in the thread that reads.
    using Look = std::function<void(const TraceFile&, const State&)>;

    /// @p look gets each state that was read, some of them before they are asked for. Throws OpenError,
    /// ReadError.
    ReadAhead(std::vector<TraceFile> traces, const Selection& selection, Look look = {});
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// The next state of the top level, null behind the last one; it is there until the next call. Throws
    /// ReadError behind what was read before that.
    const Item* next();

    /// Known at the end.
    const std::vector<MissingEnd>& missing() const { return m_states.missing(); }
    std::vector<std::string> with_odd_lines() const { return m_states.with_odd_lines(); }

  private:
    struct Batch {
        std::vector<Item> items; ///< of which the first `size` are filled; others keep their memory
        std::size_t size = 0;
        bool is_last = false;
        std::exception_ptr error; ///< behind them
    };

    void read();
    void fill(Batch& batch);
    /// Nothing if nobody wants more.
    std::optional<Batch> take_batch(std::deque<Batch>& from);
    void put_batch(std::deque<Batch>& to, Batch batch);

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
