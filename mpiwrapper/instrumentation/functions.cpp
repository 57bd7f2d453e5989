// libhdtrace-functions.so: every function of a program that was compiled with -finstrument-functions is a
// region.
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/instrumentation/program_regions.h"
#include "mpiwrapper/instrumentation/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

using namespace hdtrace;
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
pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER;

// Initial-exec: the loader else asks the program for memory, whose functions may tell us that they are
// entered.
#define HDT_OF_THREAD __attribute__((tls_model("initial-exec"))) thread_local

// The functions that the thread is in since it is traced. Those that it entered before end without a word.
HDT_OF_THREAD long open_functions = 0;
// Where on the stack we are at work: what we call may be compiled in the same way. Null if nowhere.
HDT_OF_THREAD const void* place_of_work = nullptr;

// Stacks grow downwards: a longjmp() may have left us where a function is called that is not deeper.
bool is_inside_work(const void* frame)
{
    return place_of_work != nullptr && frame < place_of_work;
}

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
    auto* const function = static_cast<Function*>(own_calloc(1, sizeof(Function)));
    if (function != nullptr) {
        function->next = bucket;
        __atomic_store_n(&bucket, function, __ATOMIC_RELEASE);
    }
    return function;
}

/// Null if memory is short.
Function* add(const void* address, const char* name)
{
    const Lock lock(mutex);
    if (!lock.held())
        return nullptr;
    Function* function = find(address);
    if (function == nullptr)
        function = place_in(bucket_of(address));
    if (function != nullptr && function->address == nullptr) {
        strcpy(function->name, ShortName(name).text());
        function->region = {nullptr, function->name, nullptr, 0, HD_NO_SITE, nullptr};
        __atomic_store_n(&function->address, address, __ATOMIC_RELEASE);
    }
    return function;
}

// Not on the stack, which may be small, nor in the program's memory: its functions tell that they are
// entered, too.
Function* add(const void* address)
{
    constexpr size_t longest_name = 16 * HD_LONGEST_NAME;
    char* const name = static_cast<char*>(own_malloc(longest_name));
    if (name == nullptr)
        return nullptr;
    name_of_function(address, name, longest_name);
    Function* const added = add(address, name);
    own_free(name);
    return added;
}

void forget_unloaded()
{
    forget_file();
    dl_find_object found;
    const Lock lock(mutex);
    for (Function* function : buckets) {
        for (; function != nullptr; function = function->next)
            if (_dl_find_object(const_cast<void*>(function->address), &found) != 0)
                __atomic_store_n(&function->address, nullptr, __ATOMIC_RELAXED);
    }
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
    const void* const frame = __builtin_frame_address(0);
    if (is_inside_work(frame) || !is_traced())
        return;
    place_of_work = frame;
    Function* const function = find_or_add(address);
    if (function != nullptr && hdR_begin(&function->region) == 0)
        ++open_functions;
    place_of_work = nullptr;
}

HDT_INTERFACE void __cyg_profile_func_exit(void* address, void*)
{
    const void* const frame = __builtin_frame_address(0);
    if (is_inside_work(frame) || open_functions == 0 || !is_traced())
        return;
    place_of_work = frame;
    const Function* const function = find(address);
    if (function != nullptr && hdR_end(&function->region) == 0)
        --open_functions;
    place_of_work = nullptr;
}

HDT_INTERFACE int dlclose(void* handle) noexcept
{
    const auto next = reinterpret_cast<decltype(&::dlclose)>(dlsym(RTLD_NEXT, "dlclose"));
    const int rc = next(handle);
    if (is_traced())
        forget_unloaded();
    return rc;
}
