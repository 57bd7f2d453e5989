// Samples the counters of one thread, in that thread.
#pragma once

#include "hdtrace/writer/trace_writer.h"

namespace hdtrace::mpi {

class PerfEvents;
class PapiEvents;

/// Functions belong to its thread, which must not be in the middle of an event.
class ThreadCounters {
  public:
    ThreadCounters() = default;
    ~ThreadCounters() { close(); }
    ThreadCounters(const ThreadCounters&) = delete;
    ThreadCounters& operator=(const ThreadCounters&) = delete;

    /// Whether threads have any.
    static bool are_wanted();

    /// Counts from now on.
    void open(TraceWriter& writer, Clock& clock);
    void close();
    /// A call begins. Samples are taken before it and behind its line in @p writer, if none has been taken
    /// for HDTRACE_COUNTER_DELAY.
    void call_begins()
    {
        sample_if_due();
        m_is_in_call = true;
    }
    /// Takes one behind the next line.
    void hurry() { m_is_first = m_is_in_call = true; }
    /// Takes one now, if the thread is in no call.
    void sample_last()
    {
        hurry();
        sample_if_due();
    }
    /// In a child of fork().
    void forget();

  private:
    void line_ended();
    void sample_if_due();
    void open_perf_events();
    void open_papi_events();
    void sample(int64_t time);

    TraceWriter* m_writer = nullptr; ///< null while it is closed
    Clock* m_clock = nullptr;
    int64_t m_last = 0;
    bool m_is_first = true;
    bool m_is_in_call = false;
    bool m_is_sampling = false;
    PerfEvents* m_perf = nullptr; ///< null if there are none
    PapiEvents* m_papi = nullptr;
};

} // namespace hdtrace::mpi
