#include "mpiwrapper/runtime/counters/papi_events.h"

#include "hdtrace/writer/floating_point.h"

#include <algorithm>
#include <dlfcn.h>
#include <pthread.h>

namespace hdtrace::mpi {

namespace {

// As papi.h says; building must not need it.
constexpr int ok = 0;
constexpr int no_set = -1;
constexpr int version_of(int major, int minor)
{
    return major << 24 | minor << 16;
}

struct Version {
    const char* file;
    int number;
};
constexpr Version versions[] = {
    {"libpapi.so.7.2", version_of(7, 2)}, {"libpapi.so.7.1", version_of(7, 1)},
    {"libpapi.so.7.0", version_of(7, 0)}, {"libpapi.so.6.0", version_of(6, 0)},
    {"libpapi.so.5.7", version_of(5, 7)}, {"libpapi.so.5", version_of(5, 7)},
};

struct Library {
    int (*PAPI_library_init)(int version);
    int (*PAPI_thread_init)(unsigned long (*id)());
    int (*PAPI_create_eventset)(int* set);
    int (*PAPI_add_named_event)(int set, const char* name);
    int (*PAPI_start)(int set);
    int (*PAPI_read)(int set, long long* values);
    int (*PAPI_stop)(int set, long long* values);
    int (*PAPI_cleanup_eventset)(int set);
    int (*PAPI_destroy_eventset)(int* set);
    int (*PAPI_unregister_thread)();
    char* (*PAPI_strerror)(int error);
};
Library papi;

template <typename Function> bool find(void* library, Function& function, const char* name)
{
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool find_functions(void* library)
{
#define HDT_FIND(name) find(library, papi.name, #name)
    return HDT_FIND(PAPI_library_init) && HDT_FIND(PAPI_thread_init) && HDT_FIND(PAPI_create_eventset) &&
           HDT_FIND(PAPI_add_named_event) && HDT_FIND(PAPI_start) && HDT_FIND(PAPI_read) &&
           HDT_FIND(PAPI_stop) && HDT_FIND(PAPI_cleanup_eventset) && HDT_FIND(PAPI_destroy_eventset) &&
           HDT_FIND(PAPI_unregister_thread) && HDT_FIND(PAPI_strerror);
#undef HDT_FIND
}

unsigned long this_thread()
{
    return static_cast<unsigned long>(pthread_self());
}

constexpr char not_found[] = "the library libpapi.so of a version from 5.7 to 7.2 was not found";

const char* load(const Version& version)
{
    // A thread can count for one user of the library only.
    if (void* const used = dlopen(version.file, RTLD_NOW | RTLD_NOLOAD)) {
        dlclose(used);
        return "the program uses PAPI itself";
    }
    void* const library = dlopen(version.file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return not_found;
    if (!find_functions(library) || papi.PAPI_library_init(version.number) != version.number)
        return "PAPI is not the version that its name says, or cannot begin";
    return papi.PAPI_thread_init(this_thread) == ok ? nullptr : "PAPI cannot count for threads";
}

void destroy(int set)
{
    long long values[PapiEvents::most];
    with_own_floating_point([&] { papi.PAPI_stop(set, values); }); // which computes derived events
    papi.PAPI_cleanup_eventset(set);
    papi.PAPI_destroy_eventset(&set);
}

// Returns PAPI's error.
int start_alone(const SampledCounter& counter, int& set)
{
    set = no_set;
    int error = papi.PAPI_create_eventset(&set);
    if (error == ok)
        error = papi.PAPI_add_named_event(set, counter.name + PapiEvents::prefix_length);
    return error == ok ? papi.PAPI_start(set) : error;
}

} // namespace

const char* load_papi()
{
    const char* problem = not_found;
    for (const Version& version : versions) {
        if (problem == not_found)
            problem = with_own_floating_point([&] { return load(version); });
    }
    return problem;
}

const char* PapiEvents::try_to_count(const SampledCounter& counter)
{
    int set = no_set;
    const int error = start_alone(counter, set);
    destroy(set);
    return error == ok ? nullptr : papi.PAPI_strerror(error);
}

void PapiEvents::open(std::span<const SampledCounter* const> counters)
{
    for (size_t i = 0; i < counters.size() && m_count < most; ++i) {
        if (counters[i]->source == Source::papi)
            add(*counters[i], i);
    }
    for (size_t first = 0; first < m_count; first += set_size(first))
        papi.PAPI_start(m_events[first].set);
}

void PapiEvents::add(const SampledCounter& counter, size_t number)
{
    const char* const name = counter.name + prefix_length;
    int set = no_set;
    if (add_to_open_set(name, number) || papi.PAPI_create_eventset(&set) != ok)
        return;
    if (papi.PAPI_add_named_event(set, name) == ok)
        insert(m_count, {set, number});
    else
        destroy(set);
}

// Of a component that has a set, which may be any of them: a second one could not be started.
bool PapiEvents::add_to_open_set(const char* name, size_t number)
{
    for (size_t first = 0; first < m_count; first += set_size(first)) {
        const int set = m_events[first].set;
        if (papi.PAPI_add_named_event(set, name) == ok) {
            insert(first + set_size(first), {set, number});
            return true;
        }
    }
    return false;
}

void PapiEvents::insert(size_t place, Event event)
{
    std::move_backward(m_events + place, m_events + m_count, m_events + m_count + 1);
    m_events[place] = event;
    ++m_count;
}

size_t PapiEvents::set_size(size_t first) const
{
    size_t size = 1;
    while (first + size < m_count && m_events[first + size].set == m_events[first].set)
        ++size;
    return size;
}

void PapiEvents::read(const Sample& sample) const
{
    for (size_t first = 0; first < m_count; first += set_size(first)) {
        long long values[most];
        const int set = m_events[first].set;
        const bool is_read = with_own_floating_point([&] { return papi.PAPI_read(set, values) == ok; });
        for (size_t i = 0; i < set_size(first); ++i)
            sample.values[m_events[first + i].counter] = is_read ? values[i] : no_value;
    }
}

void PapiEvents::close()
{
    if (m_count == 0)
        return;
    for (size_t first = 0; first < m_count; first += set_size(first))
        destroy(m_events[first].set);
    m_count = 0;
    papi.PAPI_unregister_thread();
}

} // namespace hdtrace::mpi
