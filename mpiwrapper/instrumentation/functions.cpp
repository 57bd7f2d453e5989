// libhdtrace-functions.so: every function of a program that was compiled with -finstrument-functions is a
// region.
#include "mpiwrapper/instrumentation/program_regions.h"
#include "mpiwrapper/instrumentation/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

using namespace hdtrace::instrumentation;

namespace {

/// What the compiler calls a function.
struct Function {
    Function* next;      // with the same hash
    const void* address; // null: it was unloaded, and another one may have this place
    hdRegion region;
    char name[HD_LONGEST_NAME + 1];
};

constexpr size_t bucket_count = 16384;
Function* buckets[bucket_count]; // whose lists only grow
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The functions that the thread is in since it is traced. Those that it entered before end without a word.
thread_local long open_functions = 0;
// What we call may be compiled in the same way.
thread_local bool is_at_work = false;

Function*& bucket_of(const void* address)
{
    const auto number = reinterpret_cast<uintptr_t>(address);
    return buckets[(number >> 4 ^ number >> 18) % bucket_count];
}

Function* find_in(Function* const& bucket, const void* address)
{
    Function* found = __atomic_load_n(&bucket, __ATOMIC_ACQUIRE);
    while (found != nullptr && __atomic_load_n(&found->address, __ATOMIC_ACQUIRE) != address)
        found = found->next;
    return found;
}

Function* find(const void* address)
{
    return find_in(bucket_of(address), address);
}

/// One that was unloaded, or a new one. Null if memory is short.
Function* place_in(Function*& bucket)
{
    if (Function* const unloaded = find_in(bucket, nullptr))
        return unloaded;
    auto* const function = static_cast<Function*>(calloc(1, sizeof(Function)));
    if (function != nullptr) {
        function->next = bucket;
        __atomic_store_n(&bucket, function, __ATOMIC_RELEASE);
    }
    return function;
}

Function* add(const void* address)
{
    char name[16 * HD_LONGEST_NAME];
    name_of_function(address, name, sizeof name);
    pthread_mutex_lock(&mutex);
    Function* function = find(address);
    if (function == nullptr)
        function = place_in(bucket_of(address));
    if (function != nullptr && function->address == nullptr) {
        strcpy(function->name, ShortName(name).text());
        function->region = {nullptr, function->name, nullptr, 0, HD_NO_SITE, nullptr};
        __atomic_store_n(&function->address, address, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    return function;
}

void forget_unloaded()
{
    forget_file();
    dl_find_object found;
    pthread_mutex_lock(&mutex);
    for (Function* function : buckets) {
        for (; function != nullptr; function = function->next)
            if (_dl_find_object(const_cast<void*>(function->address), &found) != 0)
                __atomic_store_n(&function->address, nullptr, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&mutex);
}

Function* find_or_add(const void* address)
{
    Function* const known = find(address);
    if (__builtin_expect(known != nullptr, 1))
        return known;
    const int saved_errno = errno;
    Function* const added = add(address);
    errno = saved_errno;
    return added;
}

} // namespace

HDT_INTERFACE void __cyg_profile_func_enter(void* address, void*)
{
    if (is_at_work || !is_traced())
        return;
    is_at_work = true;
    Function* const function = find_or_add(address);
    if (function != nullptr && hdR_begin(&function->region) == 0)
        ++open_functions;
    is_at_work = false;
}

HDT_INTERFACE void __cyg_profile_func_exit(void* address, void*)
{
    if (is_at_work || open_functions == 0 || !is_traced())
        return;
    is_at_work = true;
    const Function* const function = find(address);
    if (function != nullptr && hdR_end(&function->region) == 0)
        --open_functions;
    is_at_work = false;
}

HDT_INTERFACE int dlclose(void* handle) noexcept
{
    const auto next = reinterpret_cast<decltype(&::dlclose)>(dlsym(RTLD_NEXT, "dlclose"));
    const int rc = next(handle);
    if (is_traced())
        forget_unloaded();
    return rc;
}
