#include "mpiwrapper/runtime/counters/selection.h"

#include "hdtrace/writer/element.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/counters/papi_events.h"
#include "mpiwrapper/runtime/counters/perf_events.h"
#include "mpiwrapper/runtime/counters/reports.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/regions/definitions.h"

#include <fnmatch.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

CounterSet of_threads;
CounterSet of_process;

CounterSet& set_of(const SampledCounter& counter)
{
    return is_of_thread(counter.source) ? of_threads : of_process;
}

// ---- the user's list ----

constexpr char papi_prefix[] = "papi:";

// The names that PAPI's counters have in the list, and what stands for them in the table's place.
SampledCounter papi_rows[PapiEvents::most];
size_t papi_count = 0;

bool is_papi(const char* pattern)
{
    return strncmp(pattern, papi_prefix, strlen(papi_prefix)) == 0;
}

void choose_papi(const char* name)
{
    if (papi_count == PapiEvents::most)
        return report_counters("too many of PAPI's are asked for").add(name).end();
    const char* const kept = own_strdup(name);
    if (kept == nullptr)
        return;
    papi_rows[papi_count] = {kept, nullptr, Source::papi, 0, ""};
    if (!of_threads.has(papi_rows[papi_count]))
        of_threads.add(papi_rows[papi_count++]);
}

void choose(const char* pattern, bool is_for_node)
{
    if (is_papi(pattern))
        return choose_papi(pattern);
    bool is_known = false;
    for (const SampledCounter& counter : sampled_counters()) {
        if (fnmatch(pattern, counter.name, 0) != 0)
            continue;
        is_known = true;
        if (!is_of_node(counter.source) || is_for_node)
            set_of(counter).add(counter);
    }
    if (!is_known)
        report_unknown_counter(pattern);
}

void choose_all(const char* list, bool is_for_node)
{
    char pattern[128];
    while (*list != '\0') {
        list += strspn(list, ", \t\n");
        const size_t length = strcspn(list, ", \t\n");
        const size_t kept = length < sizeof pattern ? length : sizeof pattern - 1;
        memcpy(pattern, list, kept);
        pattern[kept] = '\0';
        if (length > 0)
            choose(pattern, is_for_node);
        list += length;
    }
}

// ---- what the system has ----

// Takes those out that @p is_missing says, and reports them.
template <typename IsMissing> void leave_out(CounterSet& set, const char* why, IsMissing is_missing)
{
    CounterReport report = report_counters(why);
    const CounterSet wanted = set;
    for (const SampledCounter* const counter : wanted.counters()) {
        if (!is_missing(*counter))
            continue;
        report.add(counter->name);
        set.remove(*counter);
    }
    report.end();
}

void try_perf_events()
{
    for (const PerfProblem& problem : perf_problems()) {
        leave_out(of_threads, problem.message, [&problem](const SampledCounter& counter) {
            return is_perf(counter.source) && problem.is_it(PerfEvents::try_to_count(counter));
        });
    }
}

void try_papi()
{
    if (papi_count == 0)
        return;
    if (const char* const problem = load_papi())
        return leave_out(of_threads, problem,
                         [](const SampledCounter& counter) { return counter.source == Source::papi; });
    for (size_t i = 0; i < papi_count; ++i) {
        const char* const problem = PapiEvents::try_to_count(papi_rows[i]);
        if (problem != nullptr)
            leave_out(of_threads, problem,
                      [i](const SampledCounter& counter) { return &counter == &papi_rows[i]; });
    }
}

void try_files()
{
    int64_t values[CounterSet::most];
    const CounterSet wanted = of_process;
    read_usage({wanted.counters(), values});
    read_proc_files({wanted.counters(), values});
    leave_out(of_process, "the system does not tell them", [&](const SampledCounter& counter) {
        size_t i = 0;
        while (wanted.counters()[i] != &counter)
            ++i;
        return values[i] == no_value;
    });
}

// ---- the .info ----

int meaning_of(const SampledCounter& counter)
{
    const int scope = is_of_thread(counter.source) ? HD_OF_THREAD
                      : is_of_node(counter.source) ? HD_OF_NODE
                                                   : HD_OF_PROCESS;
    return scope + HD_SAMPLE + ((counter.attributes & is_level) != 0 ? 0 : HD_RATE);
}

void describe(const CounterSet& set)
{
    for (const SampledCounter* const counter : set.counters()) {
        const hdCounter described = {.group = nullptr,
                                     .name = counter->name,
                                     .type = counter->is_time() ? HD_FLOAT : HD_INTEGER,
                                     .unit = counter->unit,
                                     .lower = 0,
                                     .upper = 0,
                                     .meaning = meaning_of(*counter),
                                     .flags = 0,
                                     .of = nullptr,
                                     .known = nullptr};
        describe_counter(described, counter->description);
    }
}

} // namespace

bool CounterSet::has(const SampledCounter& counter) const
{
    for (const SampledCounter* const own : counters()) {
        if (strcmp(own->name, counter.name) == 0)
            return true;
    }
    return false;
}

bool CounterSet::has_source(bool (*is_it)(Source)) const
{
    for (const SampledCounter* const own : counters()) {
        if (is_it(own->source))
            return true;
    }
    return false;
}

void CounterSet::add(const SampledCounter& counter)
{
    if (m_count < most && !has(counter))
        m_counters[m_count++] = &counter;
}

void CounterSet::remove(const SampledCounter& counter)
{
    size_t kept = 0;
    for (size_t i = 0; i < m_count; ++i) {
        if (m_counters[i] != &counter)
            m_counters[kept++] = m_counters[i];
    }
    m_count = kept;
}

void select_counters(bool is_for_node)
{
    choose_all(settings.counters, is_for_node);
    try_perf_events();
    try_papi();
    try_files();
    describe(of_threads);
    describe(of_process);
}

const CounterSet& thread_counters()
{
    return of_threads;
}

const CounterSet& process_counters()
{
    return of_process;
}

// Names of PAPI's may be anything.
void write_sample(TraceWriter& writer, const Sample& sample, int64_t time)
{
    for (size_t i = 0; i < sample.counters.size(); ++i) {
        const SampledCounter& counter = *sample.counters[i];
        const int64_t value = sample.values[i];
        if (value == no_value)
            continue;
        writer.enter();
        write_element(writer, [&](auto& element) {
            element.text("<Event name='").escaped(counter.name).text("' kind='count' value='");
            if (counter.is_time())
                element.seconds(value);
            else
                element.number(value);
            element.text("'").end_event(time);
        });
    }
}

} // namespace hdtrace::mpi
