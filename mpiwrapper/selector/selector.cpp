// Takes the place of the wrapper where nobody knows before which MPI library a program will use: scripts,
// Python, plug-ins. The first call of MPI tells: the library that it would have reached is the one, and its
// wrapper is loaded. A program that calls no MPI loads none. Who looks up functions in the library itself
// gets those of its wrapper.
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/preload.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/selector/stubs.h"
#include "mpiwrapper/selector/tracer.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) const hdTracer* hdR_tracer(int version);

namespace hdtrace::mpi {

Settings settings;

namespace {

constexpr const char* wrapper_name = "libHDTraceMPIWrapper.so";

enum class Choice { open, made, untraced };
Choice choice = Choice::open;
void* wrapper = nullptr; // once the choice is made
char wrapper_path[PATH_MAX];

Choice current_choice()
{
    return __atomic_load_n(&choice, __ATOMIC_ACQUIRE);
}

/// False if it has been settled before.
bool settle(Choice result)
{
    Choice expected = Choice::open;
    return __atomic_compare_exchange_n(&choice, &expected, result, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/// What dlerror() and errno say is the program's business.
class UnnoticedErrors {
  public:
    UnnoticedErrors() = default;
    ~UnnoticedErrors()
    {
        dlerror();
        errno = m_errno;
    }
    UnnoticedErrors(const UnnoticedErrors&) = delete;
    UnnoticedErrors& operator=(const UnnoticedErrors&) = delete;

  private:
    const int m_errno = errno;
};

bool begins_with(const char* text, const char* beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool is_of_mpi(const char* name)
{
    return begins_with(name, "MPI") || begins_with(name, "PMPI");
}

/// What sanitizers and memory allocators call before they can do anything else, when they look up what they
/// replace. It calls nothing that they replace.
#define HDT_AT_ONCE __attribute__((no_sanitize("address", "thread", "undefined")))

HDT_AT_ONCE bool looks_up(const char* name)
{
    return name[0] == 'd' && name[1] == 'l' && name[2] == 's';
}

const char* base_name_of(const char* path)
{
    const char* const slash = strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

/// What a library calls itself; null if it has no such name.
const char* soname_of(const link_map& library)
{
    const char* names = nullptr;
    const ElfW(Dyn)* soname = nullptr;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB)
            names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SONAME)
            soname = entry;
    }
    return names != nullptr && soname != nullptr ? names + soname->d_un.d_val : nullptr;
}

/// The object file of this code.
Dl_info self()
{
    Dl_info info = {};
    dladdr(reinterpret_cast<const void*>(&choice), &info);
    return info;
}

bool is_ours(const void* function)
{
    Dl_info symbol;
    return dladdr(function, &symbol) != 0 && symbol.dli_fbase == self().dli_fbase;
}

/// The function that a call from @p caller would have reached without us, as the loader looks for it: in what
/// all see, then in what the caller's library was loaded with, in which we are where that is the program.
void* next_definition(const char* name, const void* caller)
{
    if (void* const next = dlsym(RTLD_NEXT, name))
        return next;
    Dl_info object;
    if (caller == nullptr || dladdr(caller, &object) == 0)
        return nullptr;
    void* const handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (handle != nullptr)
        dlclose(handle);
    return is_ours(found) ? nullptr : found;
}

/// How much of its path is the folder. The wrappers are in folders there with the names of their MPI
/// libraries.
int length_of_own_folder()
{
    return static_cast<int>(base_name_of(self().dli_fname) - self().dli_fname);
}

/// The wrapper for the library that has this function. False if there is none.
bool find_wrapper(const void* function, char (&path)[PATH_MAX])
{
    Dl_info symbol;
    link_map* library = nullptr;
    if (dladdr1(function, &symbol, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0)
        return false;
    const char* const soname = soname_of(*library);
    for (const char* const name : {soname, base_name_of(symbol.dli_fname)}) {
        if (name == nullptr)
            continue;
        const int length = snprintf(path, sizeof path, "%.*s%s/%s", length_of_own_folder(), self().dli_fname,
                                    name, wrapper_name);
        if (length < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void run_untraced(const char* library, const char* because)
{
    if (!settle(Choice::untraced))
        return;
    lead_tracer_to(nullptr);
    leave_preload_list();
    if (because != nullptr && is_first_rank())
        Diagnostic(incomplete_trace).text("the program uses ").text(library).text(because);
}

void load(const char* path, const char* library)
{
    void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        char because[PATH_MAX];
        snprintf(because, sizeof because, ", and its wrapper cannot be loaded (%s); it runs untraced",
                 dlerror());
        run_untraced(library, because);
        return;
    }
    for (Stub& stub : Stubs()) {
        void* const function = looks_up(stub.name) ? nullptr : dlsym(handle, stub.name);
        if (function != nullptr)
            stub.lead_to(function);
    }
    snprintf(wrapper_path, sizeof wrapper_path, "%s", path);
    const auto tracer = reinterpret_cast<decltype(&hdR_tracer)>(dlsym(handle, "hdR_tracer"));
    lead_tracer_to(tracer(HD_TRACER_VERSION));
    __atomic_store_n(&wrapper, handle, __ATOMIC_RELAXED); // others who come here have the same one
    settle(Choice::made);
}

void choose_for(const char* library, const void* of_mpi, const void* of_pmpi)
{
    char path[PATH_MAX];
    if (begins_with(base_name_of(library), "libHDTraceMPIWrapper"))
        run_untraced(library, nullptr); // by us: the program is linked with the tracer
    else if (find_wrapper(of_pmpi, path) || find_wrapper(of_mpi, path))
        load(path, library);
    else
        run_untraced(library,
                     ", which has no wrapper here; it runs untraced; cmake -DHDTRACE_MPI_COMPILERS=COMPILER "
                     "builds one, with the MPI compiler of that library");
}

/// Whether a program carries the tracer inside: it comes first, before what is preloaded.
bool is_in_program()
{
    Dl_info tracer;
    const void* const first = dlsym(RTLD_DEFAULT, "hdR_tracer");
    return dladdr(first, &tracer) != 0 && tracer.dli_fbase != self().dli_fbase;
}

/// Looks for the wrapper, if it can be known by now which is needed. Without PMPI it is no MPI library, but
/// what programs have for one process.
void choose(const void* caller)
{
    if (is_in_program() || is_behind_program()) {
        run_untraced(nullptr, nullptr); // by us
        return;
    }
    const void* const of_pmpi = next_definition("PMPI_Init", caller);
    const void* const of_mpi = next_definition("MPI_Init", caller);
    Dl_info symbol;
    if (of_pmpi != nullptr && of_mpi != nullptr && dladdr(of_mpi, &symbol) != 0)
        choose_for(symbol.dli_fname, of_mpi, of_pmpi);
}

/// Several threads may do it at the same time, and find the same. None may wait for another: what the loader
/// is asked for may have to wait for the constructors of a library, and they for us.
void choose_once(const void* caller)
{
    const UnnoticedErrors unnoticed;
    if (current_choice() == Choice::open)
        choose(caller);
}

[[noreturn]] void end_as_the_loader_does(const char* name)
{
    fprintf(stderr, "symbol lookup error: undefined symbol: %s\n", name);
    _exit(127);
}

void tell_if_unused()
{
    if (current_choice() == Choice::open)
        tell_of_missing_trace();
}

/// Null if the wrapper lacks it, which another MPI library's has: then the program may have it from
/// elsewhere.
void* in_wrapper(const char* name)
{
    return current_choice() == Choice::made ? dlsym(wrapper, name) : nullptr;
}

decltype(&::_exit) next_exit = nullptr;

/// Ends the process without destructors, as shells do. It may be called in signal handlers.
[[noreturn]] void end_at_once(int status)
{
    tell_if_unused();
    if (next_exit != nullptr)
        next_exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

using LookUp = decltype(&::dlsym);

void* look_up_nothing(void* /*handle*/, const char* /*name*/) noexcept
{
    return nullptr;
}

/// dlsym(), without itself.
HDT_AT_ONCE LookUp next_look_up()
{
    static LookUp next = nullptr;
    LookUp found = __atomic_load_n(&next, __ATOMIC_RELAXED);
    static constexpr const char* versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (const char* const version : versions) {
        if (found == nullptr)
            found = reinterpret_cast<LookUp>(dlvsym(RTLD_NEXT, "dlsym", version));
    }
    __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    return found != nullptr ? found : look_up_nothing;
}

/// Of a library that the program has opened.
void choose_for_opened(void* handle)
{
    const LookUp look_up = next_look_up();
    const void* const of_pmpi = look_up(handle, "PMPI_Init");
    const void* const of_mpi = look_up(handle, "MPI_Init");
    Dl_info symbol;
    if (is_in_program() || is_behind_program())
        run_untraced(nullptr, nullptr); // by us
    else if (of_pmpi != nullptr && of_mpi != nullptr && dladdr(of_mpi, &symbol) != 0)
        choose_for(symbol.dli_fname, of_mpi, of_pmpi);
}

/// What dlsym() answers to who looks for a function of MPI in a library that he has opened.
void* look_up_in_opened(void* handle, const char* name)
{
    void* const found = next_look_up()(handle, name);
    if (found == nullptr || is_ours(found))
        return found;
    const UnnoticedErrors unnoticed;
    if (current_choice() == Choice::open)
        choose_for_opened(handle);
    char path[PATH_MAX];
    const bool is_of_traced_library =
        current_choice() == Choice::made && find_wrapper(found, path) && strcmp(path, wrapper_path) == 0;
    void* const own = is_of_traced_library ? next_look_up()(wrapper, name) : nullptr;
    return own != nullptr ? own : found;
}

/// Where a call of dlsym() goes on. What we look up ourselves is what is there.
HDT_AT_ONCE void* target_of_look_up(const void* caller, void* handle, const char* name)
{
    const bool is_asked_for_mpi = name != nullptr && name[0] == 'M' && name[1] == 'P' && name[2] == 'I';
    const bool is_in_opened = handle != RTLD_DEFAULT && handle != RTLD_NEXT;
    if (is_asked_for_mpi && is_in_opened && !is_ours(caller))
        return reinterpret_cast<void*>(look_up_in_opened);
    return reinterpret_cast<void*>(next_look_up());
}

bool ends_at_once(const char* name)
{
    return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0;
}

/// Functions of the C library are called in signal handlers, too, where nothing can be looked up.
void prepare_functions_of_c_library()
{
    next_exit = reinterpret_cast<decltype(next_exit)>(dlsym(RTLD_NEXT, "_exit"));
    for (Stub& stub : Stubs()) {
        if (ends_at_once(stub.name))
            stub.lead_to(reinterpret_cast<void*>(end_at_once));
        else if (!is_of_mpi(stub.name) && !looks_up(stub.name))
            stub.lead_to(dlsym(RTLD_NEXT, stub.name));
    }
}

__attribute__((constructor)) void loaded()
{
    const UnnoticedErrors unnoticed;
    for (const Option& option : options())
        set_from_environment(settings, option);
    verbosity = static_cast<int>(settings.verbosity);
    prepare_functions_of_c_library();
    if (is_meant_for_another_process() || has_rights_of_others())
        run_untraced(nullptr, nullptr);
}

__attribute__((destructor)) void unloaded()
{
    tell_if_unused();
}

} // namespace

void look_for_library()
{
    choose_once(nullptr);
}

} // namespace hdtrace::mpi

using namespace hdtrace::mpi;

extern "C" HDT_AT_ONCE void* hdtrace_target_of(Stub* stub, const void* caller, void* first,
                                               const char* second)
{
    if (looks_up(stub->name))
        return target_of_look_up(caller, first, second);
    const bool is_mpi = is_of_mpi(stub->name);
    if (is_mpi)
        choose_once(caller);
    const UnnoticedErrors unnoticed;
    void* next = is_mpi ? in_wrapper(stub->name) : nullptr;
    if (next == nullptr)
        next = next_definition(stub->name, caller);
    if (next == nullptr)
        end_as_the_loader_does(stub->name);
    stub->lead_to(next);
    return next;
}
