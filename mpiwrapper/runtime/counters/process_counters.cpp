#include "mpiwrapper/runtime/counters/process_counters.h"

#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/counters/selection.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/life_lines.h"
#include "mpiwrapper/runtime/recording/state.h"
#include "mpiwrapper/runtime/recording/thread.h"

namespace hdtrace::mpi {

namespace {

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // of those who sample
Thread* trace = nullptr;

bool is_recording()
{
    return current_state() == State::running && __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0;
}

void write_sample()
{
    int64_t values[CounterSet::most];
    const Sample sample = {process_counters().counters(), values};
    const int64_t now = trace->clock.now();
    read_usage(sample);
    read_proc_files(sample);
    write_sample(trace->writer, sample, now);
}

} // namespace

void start_process_counters()
{
    if (process_counters().is_empty())
        return;
    trace = add_trace_of_ours("counters");
    sample_process_counters();
}

void continue_process_counters()
{
    const Lock lock(state_mutex);
    if (trace == nullptr || current_state() != State::running)
        return;
    trace->tid = gettid();
    describe_begin_of(*trace);
}

void sample_process_counters()
{
    const Lock lock(mutex);
    if (lock.held() && trace != nullptr && is_recording())
        write_sample();
}

int64_t process_counter_interval()
{
    constexpr int64_t shortest = 1'000'000, usual = 100'000'000;
    if (trace == nullptr)
        return 0;
    const int64_t delay = settings.counter_delay != 0 ? settings.counter_delay : usual;
    return delay > shortest ? delay : shortest;
}

} // namespace hdtrace::mpi
