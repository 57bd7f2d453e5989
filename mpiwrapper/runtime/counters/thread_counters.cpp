#include "mpiwrapper/runtime/counters/thread_counters.h"

#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/counters/papi_events.h"
#include "mpiwrapper/runtime/counters/perf_events.h"
#include "mpiwrapper/runtime/counters/selection.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/state.h"

#include <errno.h>
#include <new>
#include <pthread.h>
#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

template <typename Object> Object* make()
{
    void* const memory = own_malloc(sizeof(Object));
    return memory != nullptr ? new (memory) Object : nullptr;
}

template <typename Object> void destroy(Object*& object)
{
    if (object == nullptr)
        return;
    object->~Object();
    own_free(object);
    object = nullptr;
}

// Libraries may wait where a thread can be cancelled.
class NotCancelled {
  public:
    NotCancelled() : m_errno(errno) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m_previous); }
    ~NotCancelled()
    {
        pthread_setcancelstate(m_previous, nullptr);
        errno = m_errno;
    }
    NotCancelled(const NotCancelled&) = delete;
    NotCancelled& operator=(const NotCancelled&) = delete;

  private:
    int m_errno;
    int m_previous;
};

void report_scarce_descriptors()
{
    static bool is_reported = false;
    if (!__atomic_exchange_n(&is_reported, true, __ATOMIC_RELAXED))
        Diagnostic(incomplete_trace)
            .text(
                "there are not enough descriptors for the counters of perf in all threads: those of some are "
                "left out; ulimit -n tells how many there may be");
}

} // namespace

bool ThreadCounters::are_wanted()
{
    return !thread_counters().is_empty();
}

void ThreadCounters::open(TraceWriter& writer, Clock& clock)
{
    if (!are_wanted())
        return;
    const NotCancelled not_cancelled;
    m_writer = &writer;
    m_clock = &clock;
    open_perf_events();
    open_papi_events();
    hurry();
    writer.watch_lines([](void* counters) { static_cast<ThreadCounters*>(counters)->line_ended(); }, this);
}

void ThreadCounters::open_perf_events()
{
    if (!thread_counters().has_source(is_perf))
        return;
    m_perf = make<PerfEvents>();
    if (m_perf == nullptr || m_perf->open(thread_counters().counters()))
        return;
    destroy(m_perf);
    report_scarce_descriptors();
}

void ThreadCounters::open_papi_events()
{
    if (!thread_counters().has_source([](Source source) { return source == Source::papi; }))
        return;
    m_papi = make<PapiEvents>();
    if (m_papi != nullptr)
        m_papi->open(thread_counters().counters());
}

void ThreadCounters::close()
{
    if (m_writer == nullptr)
        return;
    const NotCancelled not_cancelled;
    m_writer->watch_lines(nullptr, nullptr);
    m_writer = nullptr;
    destroy(m_perf);
    destroy(m_papi);
}

// PAPI's are left to themselves: it may not be used in a child.
void ThreadCounters::forget()
{
    if (m_perf != nullptr)
        m_perf->close();
}

// The program's own events are lines, too, but may come from signal handlers.
void ThreadCounters::line_ended()
{
    if (m_is_in_call && !m_is_sampling) {
        m_is_in_call = false;
        sample_if_due();
    }
}

void ThreadCounters::sample_if_due()
{
    const bool is_recording = __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0;
    if (m_writer == nullptr || m_is_sampling || m_writer->depth() > 0 || !is_recording)
        return;
    const int64_t now = m_clock->now();
    if (m_is_first || now - m_last >= settings.counter_delay)
        sample(now);
}

// The events that it writes are lines, too.
void ThreadCounters::sample(int64_t time)
{
    m_is_sampling = true;
    m_is_first = false;
    m_last = time;
    int64_t values[CounterSet::most];
    for (int64_t& value : values)
        value = no_value;
    const Sample sample = {thread_counters().counters(), values};
    {
        const NotCancelled not_cancelled;
        read_usage(sample);
        if (m_perf != nullptr)
            m_perf->read(sample);
        if (m_papi != nullptr)
            m_papi->read(sample);
    }
    write_sample(*m_writer, sample, time);
    m_is_sampling = false;
}

} // namespace hdtrace::mpi
