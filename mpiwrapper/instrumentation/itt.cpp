// libhdtrace-itt.so: what a program tells by the Instrumentation and Tracing Technology interface:
// INTEL_LIBITTNOTIFY64 names it. The part of ITT that is in the program asks a library of its version 1 for
// each function by its name.
#include "hdtrace/writer/floating_point.h"
#include "mpiwrapper/instrumentation/program_regions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

using namespace hdtrace::instrumentation;

namespace {

// As programs see them.
struct Domain {
    volatile int flags; ///< 0: programs do not call for it
    const char* name;
    void* wide_name;
    int reserved;
    void* more_reserved;
    Domain* next;
};
struct StringHandle {
    const char* text;
    void* wide_text;
    int reserved;
    void* more_reserved;
    StringHandle* next;
};
struct Entry {
    const char* name;
    void** function;
    void* at_first;
    void* nothing; ///< does nothing
    int group;
};
/// The beginning of what ITT has in a program.
struct Global {
    unsigned char magic[8];
    unsigned long version[3];
    long initialised[3];
    pthread_mutex_t mutex;
    void* library; ///< this one
    void* error_handler;
    const char** path;
    Entry* functions;
};
struct Id {
    unsigned long long parts[3];
};
enum MetadataType {
    unsigned_64 = 1,
    signed_64,
    unsigned_32,
    signed_32,
    unsigned_16,
    signed_16,
    real_32,
    real_64
};

struct Counter {
    hdCounter counter;
    MetadataType type;
    int64_t value;
    Counter* next;
};

template <typename Object> struct List {
    Object* first = nullptr;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of these lists, which are only added to
List<Domain> domains;
List<StringHandle> strings;
List<Counter> counters;

thread_local Stack tasks;

bool is_same(const char* first, const char* second)
{
    return first == second || (first != nullptr && second != nullptr && strcmp(first, second) == 0);
}

const char* copy_of(const char* text)
{
    return text != nullptr ? strdup(text) : nullptr;
}

/// The object that is looked for, or a new one; null if memory is short.
template <typename Object, typename Matches, typename Fill>
Object* find_or_add(List<Object>& list, Matches matches, Fill fill)
{
    pthread_mutex_lock(&mutex);
    Object* object = list.first;
    while (object != nullptr && !matches(*object))
        object = object->next;
    if (object == nullptr) {
        object = static_cast<Object*>(calloc(1, sizeof(Object)));
        if (object != nullptr) {
            fill(*object);
            object->next = list.first;
            list.first = object;
        }
    }
    pthread_mutex_unlock(&mutex);
    return object;
}

const char* name_of(const Domain* domain)
{
    return domain != nullptr ? domain->name : nullptr;
}

const char* text_of(const StringHandle* handle)
{
    return handle != nullptr ? handle->text : nullptr;
}

Counter* counter_of(const char* name, const char* domain, MetadataType type)
{
    if (name == nullptr)
        return nullptr;
    return find_or_add(
        counters,
        [&](const Counter& known) {
            return is_same(known.counter.name, name) && is_same(known.counter.group, domain) &&
                   known.type == type;
        },
        [&](Counter& counter) {
            counter.counter.name = copy_of(name);
            counter.counter.group = copy_of(domain);
            counter.counter.type = type == real_32 || type == real_64 ? HD_FLOAT : HD_INTEGER;
            counter.counter.flags = HD_NO_SITE;
            counter.type = type;
        });
}

template <typename Number> Number read(const void* value)
{
    Number number;
    memcpy(&number, value, sizeof number);
    return number;
}

double read_wide(const void* value)
{
    return hdtrace::with_own_floating_point([=] { return static_cast<double>(read<float>(value)); });
}

void record(Counter& counter, int64_t value)
{
    __atomic_store_n(&counter.value, value, __ATOMIC_RELAXED);
    if (is_traced())
        hdR_countInteger(&counter.counter, value);
}

void add(Counter* counter, int64_t difference)
{
    if (counter == nullptr || counter->counter.type != HD_INTEGER)
        return;
    const int64_t value = __atomic_add_fetch(&counter->value, difference, __ATOMIC_RELAXED);
    if (is_traced())
        hdR_countInteger(&counter->counter, value);
}

void set(Counter* counter, const void* value)
{
    if (counter == nullptr || value == nullptr)
        return;
    switch (counter->type) {
    case unsigned_64:
    case signed_64:
        return record(*counter, read<int64_t>(value));
    case unsigned_32:
        return record(*counter, read<uint32_t>(value));
    case signed_32:
        return record(*counter, read<int32_t>(value));
    case unsigned_16:
        return record(*counter, read<uint16_t>(value));
    case signed_16:
        return record(*counter, read<int16_t>(value));
    case real_32:
    case real_64:
        if (is_traced())
            hdR_countFloat(&counter->counter,
                           counter->type == real_32 ? read_wide(value) : read<double>(value));
    }
}

} // namespace

/// Functions that we do not have do nothing.
HDT_INTERFACE void __itt_api_init(Global* global, int)
{
    for (Entry* entry = global->functions; entry->name != nullptr; ++entry) {
        void* const own = dlsym(global->library, entry->name);
        *entry->function = own != nullptr ? own : entry->nothing;
    }
}

HDT_INTERFACE Domain* __itt_domain_create(const char* name)
{
    return find_or_add(
        domains, [&](const Domain& known) { return is_same(known.name, name); },
        [&](Domain& domain) {
            domain.name = copy_of(name);
            domain.flags = 1;
        });
}

HDT_INTERFACE StringHandle* __itt_string_handle_create(const char* text)
{
    return find_or_add(
        strings, [&](const StringHandle& known) { return is_same(known.text, text); },
        [&](StringHandle& handle) { handle.text = copy_of(text); });
}

HDT_INTERFACE void __itt_task_begin(const Domain* domain, Id, Id, StringHandle* name)
{
    tasks.push(begin(name_of(domain), text_of(name)));
}

HDT_INTERFACE void __itt_task_end(const Domain*)
{
    tasks.pop();
}

HDT_INTERFACE void __itt_marker(const Domain* domain, Id, StringHandle* name, int)
{
    mark(name_of(domain), text_of(name));
}

HDT_INTERFACE void __itt_pause()
{
    hdR_pause();
}

HDT_INTERFACE void __itt_resume()
{
    hdR_resume();
}

HDT_INTERFACE void __itt_thread_set_name(const char* name)
{
    mark(nullptr, "thread name", ShortName(name).text());
}

/// The older form of the same.
HDT_INTERFACE void __itt_thr_name_set(const char* name, int)
{
    __itt_thread_set_name(name);
}

HDT_INTERFACE Counter* __itt_counter_create(const char* name, const char* domain)
{
    return counter_of(name, domain, unsigned_64);
}

HDT_INTERFACE Counter* __itt_counter_create_typed(const char* name, const char* domain, MetadataType type)
{
    return counter_of(name, domain, type);
}

HDT_INTERFACE void __itt_counter_set_value(Counter* counter, void* value)
{
    set(counter, value);
}

HDT_INTERFACE void __itt_counter_inc(Counter* counter)
{
    add(counter, 1);
}

HDT_INTERFACE void __itt_counter_dec(Counter* counter)
{
    add(counter, -1);
}

HDT_INTERFACE void __itt_counter_inc_delta(Counter* counter, unsigned long long difference)
{
    add(counter, static_cast<int64_t>(difference));
}

HDT_INTERFACE void __itt_counter_dec_delta(Counter* counter, unsigned long long difference)
{
    add(counter, -static_cast<int64_t>(difference));
}
